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
] as const satisfies readonly Requirement[]
