/** Filters and facets of the search of the pages. */
import sql, { empty, join, type Sql } from 'sql-template-tag'
import { listed } from '../../db/dialect.ts'
import type { Reader } from '../../db/port.ts'
import { isSealed, type Sight, toldOf } from '../visibility.ts'
import { allOf } from './page-messages.ts'

/** Conditions on the messages beside their words. */
export type SearchFilter = readonly (Asked & { readonly not?: boolean })[]

type Asked =
  | { readonly by: 'sender' | 'recipient'; readonly ids: readonly number[] }
  | { readonly by: 'importance' | 'type'; readonly word: string }
  /** Of one agent, or of any recipient. */
  | { readonly by: 'unread' | 'unacked'; readonly of?: number | undefined }
  | { readonly by: 'attached' | 'sealed' }
  | { readonly by: 'since' | 'until'; readonly at: number }

const anyOf = (ids: readonly number[]): Sql => (ids.length === 0 ? sql`(NULL)` : sql`(${join([...ids])})`)

/** Conditions for messages `m`, each after AND. A blind copy is found by those who may see it. */
export const searchWhere = (sight: Sight, filter: SearchFilter): Sql =>
  allOf(
    filter.map(({ not = false, ...asked }) => (not ? sql`NOT ${condition(sight, asked)}` : condition(sight, asked))),
  )

function condition(sight: Sight, asked: Asked): Sql {
  const delivered = (which: Sql): Sql =>
    sql`EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND ${toldOf(sight)} AND ${which})`
  const own = (of: number | undefined): Sql => (of === undefined ? empty : sql`AND d.recipient_id = ${of}`)
  switch (asked.by) {
    case 'sender':
      return sql`m.sender_id IN ${anyOf(asked.ids)}`
    case 'recipient':
      return delivered(sql`d.recipient_id IN ${anyOf(asked.ids)}`)
    case 'importance':
      return sql`m.importance = ${asked.word}`
    case 'type':
      return sql`m.kind = ${asked.word}`
    case 'unread': {
      const mail = delivered(sql`d.read_at IS NULL ${own(asked.of)}`)
      return asked.of === undefined ? mail : sql`(${mail} OR ${unreadInTopic(asked.of)})`
    }
    case 'unacked':
      return delivered(sql`d.ack_wanted = 1 AND d.acked_at IS NULL AND d.ended IS NULL ${own(asked.of)}`)
    case 'attached':
      return sql`(m.attachments IS NOT NULL ${sight.sealed ? sql`AND NOT ${isSealed}` : empty})`
    case 'sealed':
      return isSealed
    case 'since':
      return sql`m.created_at >= ${asked.at}`
    case 'until':
      return sql`m.created_at <= ${asked.at}`
  }
}

/** A member of a topic has read it up to its cursor. */
const unreadInTopic = (agentId: number): Sql => sql`(m.sender_id <> ${agentId} AND EXISTS (
  SELECT 1 FROM cursors c WHERE c.thread_id = m.thread_id AND c.agent_id = ${agentId} AND c.last_seq < m.seq))`

interface FacetRow {
  project_id: number
  sender: string
  sender_project: number
  importance: string
  created_at: number
}

export function listFacets(db: Reader, ids: readonly number[]): Promise<FacetRow[]> {
  return db.all<FacetRow>(sql`
    SELECT t.project_id, a.name AS sender, a.project_id AS sender_project, m.importance, m.created_at
    FROM messages m JOIN threads t ON t.id = m.thread_id JOIN agents a ON a.id = m.sender_id
    WHERE m.id IN ${listed(db, ids)}`)
}
