/** Promises about asking and waiting, time to live, dead letters, and runs of fresh agents. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const asking = [
  { id: 'ask.reply.waited', spec: 'DESIGN One wait', says: 'wait_reply_seconds sends and waits for the first reply: one call at the mail and mailbox doors.' },
  { id: 'ask.reply.resumed', spec: 'DECISIONS hub 9', says: 'The same call with the id that came back sends nothing and waits on, also after kill -9.' },
  { id: 'ask.reply.marked', spec: 'DESIGN One wait', says: 'A reply in an answer is taken from the mailbox; at the mail door it is delivered and stays unread.' },
  { id: 'ask.reply.lost', spec: 'DESIGN One wait', says: 'A reply whose answer could not be written stays in the mailbox.' },
  { id: 'ask.reply.short', spec: 'DECISIONS all 1', says: 'The short form of a send that waits answers {id, reply}; without a wait, the bare id.' },
  { id: 'ask.wait.refused', spec: 'DESIGN One wait', says: 'A send that is refused its wait is not sent.' },
  { id: 'ttl.expired.gone', spec: 'DECISIONS mailbox 3', says: 'Mail unread past its ttl_seconds is in no inbox or mailbox, and announced by no route, to the millisecond.' },
  { id: 'ttl.expired.shown', spec: 'DESIGN Nine nouns', says: 'Expired mail stays stored and found, shown as expired, never as read; it is counted out of the unread.' },
  { id: 'ttl.expired.told', spec: 'DECISIONS all 9', says: 'The sender of expired mail is told once, by one process of several; the notice wakes nobody.' },
  { id: 'ttl.read.stays', spec: 'DECISIONS mailbox 3', says: 'Mail that is read or on loan in time does not expire; a loan that lapses past the time does.' },
  { id: 'dead.letters.off', spec: 'DECISIONS mailbox 3', says: 'A message lent MAILBOX_MAX_ATTEMPTS times and never confirmed is dead: stored, and off the mailbox.' },
  { id: 'dead.letters.never', spec: 'DECISIONS mailbox 3', says: 'Without MAILBOX_MAX_ATTEMPTS no message of check_mail dies; a lost answer is no attempt.' },
  { id: 'dead.letters.told', spec: 'DECISIONS mailbox 3', says: 'The sender of a dead letter is told once, by a notice that wakes nobody.' },
  { id: 'dead.letters.steered', spec: 'mail.md CLI', says: 'parley dead-letters lists and shows dead letters, puts one back at its place, or drops it.' },
  { id: 'run.mail.lent', spec: 'DECISIONS mailbox 3', says: 'parley run is lent the mail of one thread; acknowledged when its command ends with 0, else it comes back.' },
  { id: 'run.mail.handed', spec: 'DESIGN Callers', says: 'By the header X-Parley-Run the agent of a run is handed its mail, and no other, each message once.' },
  { id: 'run.mail.dead', spec: 'DECISIONS mailbox 3', says: 'Mail that five runs have not handled is dead, unless MAILBOX_MAX_ATTEMPTS says another number.' },
  { id: 'run.mail.returned', spec: 'DESIGN One wait', says: 'Signals, time-outs and kill -9 of parley run or its command: the mail comes back.' },
  { id: 'run.prompt.pointer', spec: 'DECISIONS all 9', says: 'The prompt of a run is a pointer made by Parley: no subject or body reaches an argument.' },
  { id: 'run.started.limited', spec: 'DECISIONS all 9', says: 'No more commands than --max-per-hour are started, and none is started at once again after a failure.' },
] as const satisfies readonly Requirement[]
