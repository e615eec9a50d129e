/** Search: messages by their words, the best first. The language is that of fulltext/query.ts, with the filters of filters.ts beside it. */
import { nextTurn } from '../../base/clock.ts'
import { HubError } from '../../base/errors.ts'
import { firstLine } from '../../base/text.ts'
import { inSpan } from '../../base/tracing.ts'
import { type Excerpt, excerpt } from '../../fulltext/excerpt.ts'
import type { Phrase } from '../../fulltext/query.ts'
import type { Ranked } from '../../fulltext/relevance.ts'
import { type HitRow, listHits, type Scope } from '../../store/search/search.ts'
import { withoutFiles } from '../../summaries/lines.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { findAsked, noteOf, readAsked, suggestBeginnings } from './asking.ts'

export type { Scope } from '../../store/search/search.ts'

export const searchLimits = { least: 1, most: 100, usual: 20 } as const

/** A longer text takes a few milliseconds to look through. */
const longText = 2000

export interface Searching {
  readonly query: string
  readonly limit?: number | undefined
  /** The ids of messages that are found for another reason than their words, and shown before all others. */
  readonly first?: readonly number[]
  /** The agent whose unread mail `is:unread` means; left out, that of any recipient. */
  readonly reader?: number | undefined
}

export interface Found {
  readonly hits: readonly Hit[]
  /** Whether there are more than these. */
  readonly more: boolean
  /** How many there are in all; at least so many, if `capped`. */
  readonly total: number
  readonly capped: boolean
  /** Why the form of the query keeps it from finding what it seems to ask for. */
  readonly note: string | undefined
}

export interface Hit {
  readonly id: number
  readonly uid: string
  readonly threadUid: string
  /** Of a topic. */
  readonly threadName: string | undefined
  /** The name of the thread in mail, if it has one. */
  readonly threadKey: string | undefined
  readonly seq: number
  readonly subject: string
  readonly sender: string
  /** The id of the sender's project. */
  readonly senderProject: number
  readonly kind: string
  readonly importance: string
  readonly ackRequired: boolean
  readonly createdAt: number
  readonly snippet: Excerpt
  /** Higher is better; comparable within one answer only. */
  readonly score: number
}

/**
 * Finds all messages committed before the call. The verb that calls this has checked that the caller may see the scope.
 * No query is an error; one without words and filters finds nothing.
 */
export const search = (hub: Hub, scope: Scope, searching: Searching): Promise<Found> =>
  inSpan('search', () => searchNow(hub, scope, searching))

async function searchNow(
  hub: Hub,
  scope: Scope,
  { query: text, limit = searchLimits.usual, first = [], reader: of }: Searching,
): Promise<Found> {
  if (!Number.isInteger(limit) || limit < searchLimits.least || limit > searchLimits.most)
    throw new HubError(
      'INVALID_ARGUMENT',
      `limit must be a whole number from ${searchLimits.least} to ${searchLimits.most}.`,
      {
        hint: 'Ask for fewer, with a narrower query if need be.',
      },
    )
  const asked = await readAsked(hub, text, { of })
  const within = { ...scope, filter: asked.filter }
  const wanted = asked.query !== undefined || (asked.blank && asked.filter.length > 0)
  const nothing = { ranked: [], capped: false, walked: false }
  const { ranked, capped, walked } = wanted ? await findAsked(hub, within, asked) : nothing
  const found = before(first, ranked)
  const best = found.slice(0, limit)
  const rows = await listHits(
    reader(hub),
    best.map(({ id }) => id),
    scope,
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  const hits: Hit[] = []
  for (const { id, score } of best) {
    const row = byId.get(id)
    if (row === undefined) continue
    hits.push(toHit(row, asked.phrases, score))
    if (row.body.length > longText) await nextTurn()
  }
  const suggestion = found.length === 0 ? await suggestBeginnings(hub, within, asked) : undefined
  const note = first.length > 0 && asked.query === undefined ? undefined : noteOf(asked, { walked, suggestion })
  return { hits, more: found.length > limit, total: found.length, capped, note }
}

/** Better than all others, in their own order. */
function before(first: readonly number[], ranked: readonly Ranked[]): readonly Ranked[] {
  if (first.length === 0) return ranked
  const [{ score: top } = { score: 0 }] = ranked
  const ids = new Set(first)
  return [...first.map((id) => ({ id, score: top + 1 })), ...ranked.filter(({ id }) => !ids.has(id))]
}

const inBody = ({ field }: Phrase): boolean => field === undefined || field === 'body'

const toHit = (row: HitRow, phrases: readonly Phrase[], score: number): Hit => ({
  id: row.id,
  uid: row.uid,
  threadUid: row.thread_uid,
  threadName: row.thread_name ?? undefined,
  threadKey: row.thread_key ?? undefined,
  seq: row.seq,
  subject: firstLine(row.subject),
  sender: row.sender,
  senderProject: row.sender_project,
  kind: row.kind,
  importance: row.importance,
  ackRequired: row.ack_required === 1,
  createdAt: row.created_at,
  // The content of an image tells a reader nothing, and would be the whole snippet.
  snippet: excerpt(row.body.includes('data:') ? withoutFiles(row.body) : row.body, phrases.filter(inBody)),
  score,
})
