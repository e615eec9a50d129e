/** A search without words: the newest messages of a scope that fit its filter. */
import sql, { empty, join, type Sql } from 'sql-template-tag'
import { listed } from '../../db/dialect.ts'
import type { Reader } from '../../db/port.ts'
import { type Bounds, fromInbox, fromProject, fromSenders, fromUnread } from '../mail/boxes.ts'
import { listMailIds } from '../pages/message-lists.ts'
import type { SearchFilter } from '../pages/search-filters.ts'
import type { Sight } from '../visibility.ts'
import { inScope, type Scope } from './search.ts'

/** Where no index has the filter, so many of the newest messages are looked through: as many as a search by words sifts. */
export const mostWalked = 10_000
/** Most filters are full before this. */
const firstWalked = 1000

interface Fitting {
  readonly ids: readonly number[]
  /** There may be more, older than these. */
  readonly capped: boolean
}

export async function listFitting(db: Reader, scope: Scope, limit: number): Promise<Fitting> {
  const { filter = [] } = scope
  const found: number[] = []
  const done = (capped: boolean): Fitting => ({ ids: found.slice(0, limit), capped: capped || found.length > limit })
  let below: number | undefined
  for (const most of [firstWalked, mostWalked - firstWalked]) {
    const near = await listNear(db, scope, { below, limit: most })
    for (const { id } of await fitting(db, scope, near)) found.push(id)
    const last = near.at(-1)
    if (near.length < most || last === undefined) return done(false)
    const lastSentAt = await sentAt(db, last)
    const [since, until] = [asked(filter, 'since')?.at, asked(filter, 'until')?.at]
    if (since !== undefined && lastSentAt < since) return done(false)
    if (found.length >= limit) break
    below = until === undefined || lastSentAt <= until ? last : await belowTime(db, scope, { until, below: last })
  }
  return done(true)
}

/** A search for last month does not walk through all of this one: halves the ids until the walk has the rest in its reach. */
async function belowTime(
  db: Reader,
  scope: Scope,
  { until, below }: { readonly until: number; readonly below: number },
): Promise<number> {
  let [from, to] = [0, below]
  while (to - from > firstWalked) {
    const middle = Math.floor((from + to) / 2)
    const [id] = await listNear(db, scope, { below: middle, limit: 1 })
    if (id === undefined || (await sentAt(db, id)) <= until) from = middle
    else to = id
  }
  return to
}

async function sentAt(db: Reader, id: number): Promise<number> {
  const [row] = await db.all<{ created_at: number }>(sql`SELECT created_at FROM messages WHERE id = ${id}`)
  return row?.created_at ?? 0
}

const fitting = (db: Reader, scope: Scope, ids: readonly number[]): Promise<{ id: number }[]> =>
  db.all<{ id: number }>(sql`
    SELECT m.id FROM messages m JOIN threads t ON t.id = m.thread_id JOIN agents a ON a.id = m.sender_id
    WHERE m.id IN ${listed(db, ids)} AND ${inScope(scope)} ORDER BY m.id DESC`)

interface Near extends Bounds {
  readonly limit: number
}

/** Messages that may fit, newest first, by the index that holds fewest of the others. */
async function listNear(db: Reader, scope: Scope, { below, limit }: Near): Promise<number[]> {
  const source = await sourceOf(db, scope, { below, limit })
  if (Array.isArray(source)) return source
  const rows = await db.all<{ id: number }>(sql`SELECT id FROM (${source}) AS near ORDER BY id DESC LIMIT ${limit}`)
  return rows.map(({ id }) => id)
}

/** More recipients of one name than this are not asked for one by one. */
const mostBoxes = 20

async function sourceOf(db: Reader, scope: Scope, near: Near): Promise<Sql | number[]> {
  const { filter = [] } = scope
  const { below } = near
  const older = (column: Sql): Sql => (below === undefined ? empty : sql`AND ${column} < ${below}`)
  const ids = sql`d.message_id AS id`
  const unread = asked(filter, 'unread')
  const to = asked(filter, 'recipient')?.ids ?? []
  if ('threadId' in scope)
    return sql`SELECT m.id FROM messages m WHERE m.thread_id = ${scope.threadId} ${older(sql`m.id`)}`
  if (unread?.of !== undefined)
    return sql`${fromUnread(db, ids, { recipientId: unread.of, where: older(sql`d.message_id`) })} UNION
      SELECT m.id FROM cursors c JOIN messages m ON m.thread_id = c.thread_id AND m.seq > c.last_seq
      WHERE c.agent_id = ${unread.of} ${older(sql`m.id`)}`
  if (to.length > 0 && to.length <= mostBoxes)
    return join(
      to.map((recipientId) => fromInbox(db, ids, { recipientId, where: older(sql`d.message_id`) })),
      ' UNION ',
    )
  if (asked(filter, 'unacked') !== undefined)
    return sql`SELECT DISTINCT d.message_id AS id FROM deliveries d
      WHERE d.ack_wanted = 1 AND COALESCE(d.acked_at, 0) = 0 ${older(sql`d.message_id`)}`
  const senders = asked(filter, 'sender')?.ids ?? []
  const project = 'sight' in scope ? scope.sight.projectId : scope.projectId
  if (senders.length > 0) return fromSenders(db, sql`(${join([...senders])})`, near)
  const importance = asked(filter, 'importance')?.word
  if (project !== undefined && 'sight' in scope) return fromProject(db, project, { below, importance })
  return listMailIds(db, 'pages' in scope ? scope.pages : everything, {
    ...near,
    projectId: project,
    importance,
    unread: unread !== undefined,
    attached: asked(filter, 'attached') !== undefined,
  })
}

const everything: Sight = { of: 'everybody', granted: [], topics: 'all', blind: 'none', sealed: false }

type Asked = SearchFilter[number]

/** The part of a filter that asks for this, unless it asks for all others. */
const asked = <By extends Asked['by']>(filter: SearchFilter, by: By): (Asked & { readonly by: By }) | undefined =>
  filter.find((one): one is Asked & { readonly by: By } => one.by === by && one.not !== true)
