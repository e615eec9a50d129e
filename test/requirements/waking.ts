/** Promises about waking: who waits, reach, announcing mail to idle agents, the hooks of clients. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const waking = [
  { id: 'waking.presence.seen', spec: 'DESIGN One wait', says: 'Whoever waits, by a call, a stream or a waiter, is known as waiting in every process.' },
  { id: 'waking.presence.batched', spec: 'DESIGN One wait', says: 'Coming and going is told to other processes after 100 ms, and nothing is written while a waiter waits.' },
  { id: 'waking.presence.dead', spec: 'DESIGN One wait', says: 'A node that died takes its waiters with it within a minute.' },
  { id: 'waking.waiter.one', spec: 'DESIGN One wait', says: 'A session has one waiter: a newer one takes over, at any node, and the older ends.' },
  { id: 'waking.reach.told', spec: 'DECISIONS all 9', says: 'A receipt says of each recipient how it is reached: waiting, wakeable, active, away or never here.' },
  { id: 'waking.reach.behind', spec: 'DECISIONS all 9', says: 'Reach counts the unread messages before this one, for a retry too: late is told from lost.' },
  { id: 'waking.reach.contacts', spec: 'DECISIONS all 12', says: 'Who may not write to an agent learns nothing of its reach.' },
  { id: 'waking.crossing.told', spec: 'DECISIONS all 9', says: 'A send into a thread with mail that its sender has not seen names that mail in its receipt.' },
  { id: 'waking.crossing.refused', spec: 'DECISIONS all 9', says: 'if_seen_through refuses a send with CROSSED, and the ids, where a newer message to its sender is there.' },
  { id: 'waking.announce.once', spec: 'DECISIONS all 9', says: 'Of all routes that ask at once, at any node, one announces a message.' },
  { id: 'waking.announce.confirm', spec: 'DECISIONS all 9', says: 'An announcement that no turn confirms is free after WAKE_CONFIRM_SECONDS, three tries at most.' },
  { id: 'waking.announce.remind', spec: 'DECISIONS all 9', says: 'Confirmed and unread mail is told once more, when a turn begins after WAKE_REMIND_SECONDS.' },
  { id: 'waking.announce.lost', spec: 'DESIGN One wait', says: 'A pointer whose answer was lost is announced by the next route.' },
  { id: 'waking.announce.waits', spec: 'DESIGN One wait', says: 'A waiter is woken by a message and takes it; a newer waiter of the session displaces it.' },
  { id: 'waking.delivery.marked', spec: 'DESIGN Nine nouns', says: 'A message whose text was fetched counts as delivered, and is neither announced nor crossed.' },
  { id: 'waking.hooks.answer', spec: 'DECISIONS all 9', says: 'Each hook of Claude Code, Codex and Gemini CLI is answered in its words: a pointer once, else {}.' },
  { id: 'waking.hooks.pointer', spec: 'DECISIONS all 9', says: 'A pointer has no subject, no body, and no name of a sender or thread that could read as an instruction.' },
  { id: 'waking.hooks.unknown', spec: 'DECISIONS all 9', says: 'An unknown client, event, payload or agent is answered with {}, and logged once a day.' },
  { id: 'waking.hooks.callers', spec: 'DESIGN Callers', says: 'Nobody is told of the mail of an agent with a key without that key; /hooks/wait is no GET.' },
  { id: 'waking.hooks.wait', spec: 'DESIGN One wait', says: '/hooks/wait answers 200 with a pointer, 204 when time is over, 409 when a newer waiter came.' },
  { id: 'waking.hooks.lost', spec: 'DESIGN One wait', says: 'A waiter that goes away takes no announcement with it.' },
] as const satisfies readonly Requirement[]
