/** Promises about waking: who waits, reach, announcing mail to idle agents, the hooks of clients. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const waking = [
  { id: 'waking.presence.seen', spec: 'DESIGN One wait', says: 'Whoever waits, by a call, a stream or a waiter, is known as waiting in every process.' },
  { id: 'waking.presence.batched', spec: 'DESIGN One wait', says: 'Coming and going is told to other processes after 100 ms, and nothing is written while a waiter waits.' },
  { id: 'waking.presence.dead', spec: 'DESIGN One wait', says: 'A node that died takes its waiters with it within a minute.' },
  { id: 'waking.waiter.one', spec: 'DESIGN One wait', says: 'A session has one waiter: a newer one takes over, at any node, and the older ends.' },
] as const satisfies readonly Requirement[]
