/** Everything that belongs into the archive, read from the tables in the order in which it is committed. */
import { digestPart } from '../../archive/layout.ts'
import { limits } from '../../base/limits.ts'
import {
  type ArchivedThreadRow,
  countMessages,
  listAgentsAfter,
  listLeasesAfter,
  listMessageIds,
  listMessagesAfterPlace,
  listThreadsAfter,
} from '../../store/exports/archive.ts'
import type { FeedPosition } from '../../store/feed/positions.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { addCommits, type Commits } from './commits-by-project.ts'
import { listWhole } from './digest-locations.ts'
import { digestCommits } from './digests.ts'
import { messageCommits } from './messages.ts'
import { leaseCommits, profileCommits } from './records.ts'

interface Step {
  readonly commits: Commits
  /** Messages so far, and all of them. */
  readonly done: number
  readonly total: number
}

const pageSize = 200

/** As of a place in the feed: messages that came after it are left to whoever follows the feed from there. */
export async function* everything(hub: Hub, place: FeedPosition | undefined): AsyncGenerator<Step> {
  const total = await countMessages(reader(hub))
  for await (const commits of profiles(hub)) yield { commits, done: 0, total }
  let done = 0
  for await (const { commits, count } of messages(hub, place)) {
    done += count
    yield { commits, done, total }
  }
  for await (const commits of digests(hub)) yield { commits, done, total }
  for await (const commits of reservations(hub)) yield { commits, done, total }
}

/** Page after page by id. */
async function* pages<Row extends { id: number }>(list: (after: number, limit: number) => Promise<Row[]>) {
  for (let after = 0; ; ) {
    const rows = await list(after, pageSize)
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageSize) return
    after = last.id
  }
}

async function* profiles(hub: Hub): AsyncGenerator<Commits> {
  for await (const rows of pages((after, limit) => listAgentsAfter(reader(hub), after, limit))) {
    const commits: Commits = new Map()
    for (const row of rows) addCommits(commits, await profileCommits(hub, row, row.created_at))
    yield commits
  }
}

async function* messages(
  hub: Hub,
  place: FeedPosition | undefined,
): AsyncGenerator<{ commits: Commits; count: number }> {
  for await (const rows of pages((after, limit) => listMessageIds(reader(hub), after, limit))) {
    for (let at = 0; at < rows.length; ) {
      const ids: number[] = []
      for (let room: number = limits.archivedBytes; at < rows.length && (ids.length === 0 || room > 0); at++) {
        const row = rows[at]
        if (row !== undefined) ids.push(row.id)
        room -= Number(rows[at + 1]?.bytes ?? 0)
      }
      const found = await messageCommits(hub, ids)
      // Asked after the messages were read: none of them is left to nobody.
      const range = { from: ids[0] ?? 0, to: ids.at(-1) ?? 0 }
      const later = new Set(place === undefined ? [] : await listMessagesAfterPlace(reader(hub), place, range))
      const commits: Commits = new Map()
      for (const [id, more] of found) if (!later.has(id)) addCommits(commits, more)
      yield { commits, count: ids.length }
    }
  }
}

async function* digests(hub: Hub): AsyncGenerator<Commits> {
  for await (const rows of pages((after, limit) => listThreadsAfter(reader(hub), after, limit))) {
    let group: ArchivedThreadRow[] = []
    for (const row of rows) {
      group.push(row)
      if (countParts(group) < partsTogether) continue
      yield digestCommits(hub, await listWhole(hub, group))
      group = []
    }
    if (group.length > 0) yield digestCommits(hub, await listWhole(hub, group))
  }
}

/** The digests that are held in memory together. */
const partsTogether = 50

const countParts = (rows: readonly ArchivedThreadRow[]): number =>
  rows.reduce((sum, { next_seq }) => sum + digestPart(next_seq), 0)

/** A pattern is committed with the first of its leases: the file has them all. */
async function* reservations(hub: Hub): AsyncGenerator<Commits> {
  const seen = new Set<string>()
  for await (const rows of pages((after, limit) => listLeasesAfter(reader(hub), after, limit))) {
    const commits: Commits = new Map()
    for (const row of rows) {
      const pattern = `${row.project_id} ${row.pattern}`
      if (!seen.has(pattern)) addCommits(commits, await leaseCommits(hub, row, row.created_at))
      seen.add(pattern)
    }
    yield commits
  }
}
