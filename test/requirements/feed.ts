/** Promises about the feed of changes, which projections such as the archive follow. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const feed = [
  { id: 'feed.changes.says-who', spec: 'DESIGN One write', says: 'Every change is in the feed with the ids it is about, its time, and who made it.' },
  { id: 'feed.changes.order', spec: 'DESIGN One write', says: 'A follower sees every change once, each writer’s in order, however commits interleave.' },
  { id: 'feed.follower.watermark', spec: 'DESIGN One write', says: 'A follower that dies goes on where it stopped: nothing twice in the database, nothing missed outside.' },
  { id: 'feed.follower.one-process', spec: 'DESIGN Two engines', says: 'Of processes with the same follower one at a time works; another takes over when it dies.' },
  { id: 'feed.follower.woken', spec: 'DESIGN One wait', says: 'A follower is woken by every change of every process.' },
  { id: 'feed.changes.pruned', spec: 'DESIGN One write', says: 'Old changes that every follower has passed are deleted in small parts; the newest stays.' },
  { id: 'feed.follower.gap', spec: 'DESIGN One write', says: 'A follower that is too late for a change, or comes from another database, is told and begins anew.' },
] as const satisfies readonly Requirement[]
