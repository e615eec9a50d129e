/** Promises about the feed of changes, which projections such as the archive follow. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const feed = [
  { id: 'feed.change.says-who', spec: 'DESIGN One write', says: 'Every change is in the feed with the ids it is about, its time, and who made it.' },
  { id: 'feed.order.safe', spec: 'DESIGN One write', says: 'A follower sees every committed change once, each writer’s in order, however the commits interleave.' },
  { id: 'feed.order.database', spec: 'DESIGN Two engines', says: 'Transactions in other databases of a PostgreSQL server hold up no change of this one.' },
  { id: 'feed.follower.watermark', spec: 'DESIGN One write', says: 'A follower that dies goes on where it stopped; inside the database it is handed no change twice.' },
  { id: 'feed.follower.one-process', spec: 'DESIGN Two engines', says: 'Of several processes with one follower, one at a time works, and another takes over when it dies.' },
  { id: 'feed.follower.room', spec: 'DESIGN One write', says: 'A follower outside that never comes to an end makes room for whoever asks for its turn, and goes on.' },
  { id: 'feed.follower.woken', spec: 'DESIGN One wait', says: 'A follower is woken by every change of its own process, and sees those of others within a minute.' },
  { id: 'feed.pruning.parts', spec: 'DESIGN One write', says: 'Old changes that every follower of the last week has passed are deleted in small parts; the newest stays.' },
  { id: 'feed.follower.gap', spec: 'DESIGN One write', says: 'A follower that comes too late, or from another database, is told and makes everything anew.' },
  { id: 'feed.loop.one', spec: 'DESIGN One wait', says: 'Background work looks once at a time, misses no wake, backs off after failures, and ends after its look.' },
] as const satisfies readonly Requirement[]
