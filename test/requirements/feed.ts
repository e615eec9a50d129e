/** Promises about the feed of changes, which projections such as the archive follow. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const feed = [
  { id: 'feed.says-who', spec: 'DESIGN One write', says: 'Every change is in the feed with the ids it is about, its time, and who made it.' },
  { id: 'feed.order', spec: 'DESIGN One write', says: 'A follower sees every committed change once, in an order that keeps that of each writer, however their commits interleave.' },
  { id: 'feed.watermark', spec: 'DESIGN One write', says: 'A follower that dies goes on where it stopped: nothing twice inside the database, nothing missed outside.' },
  { id: 'feed.one-process', spec: 'DESIGN Two engines', says: 'Of several processes with the same follower one at a time works, and another takes over when it dies.' },
  { id: 'feed.woken', spec: 'DESIGN One wait', says: 'A follower is woken by every change of every process.' },
  { id: 'feed.pruned', spec: 'DESIGN One write', says: 'Changes that are old and that every follower has passed are deleted in small parts; the newest stays.' },
  { id: 'feed.gap', spec: 'DESIGN One write', says: 'A follower that comes too late for a change, or from another database, is told so and makes everything anew.' },
] as const satisfies readonly Requirement[]
