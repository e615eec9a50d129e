/** Filters and facets of the search of the pages. */
import sql, { join, type Sql } from 'sql-template-tag'
import { listed } from '../../db/dialect.ts'
import type { Reader } from '../../db/port.ts'
import { type Sight, toldOf } from '../visibility.ts'
import { allOf } from './page-messages.ts'

export interface SearchFilter {
  readonly senderIds: readonly number[] | undefined
  readonly recipientIds: readonly number[] | undefined
  readonly importance: string | undefined
  readonly unread: boolean | undefined
  readonly attached: boolean | undefined
  readonly since: number | undefined
  readonly until: number | undefined
}

const anyOf = (ids: readonly number[]): Sql => (ids.length === 0 ? sql`(NULL)` : sql`(${join([...ids])})`)

/** Conditions for messages `m`, each after AND. A blind copy is found by those who may see it. */
export function searchWhere(sight: Sight, filter: SearchFilter): Sql {
  const { senderIds, recipientIds, importance, unread, attached, since, until } = filter
  const delivered = (which: Sql): Sql =>
    sql`EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND ${toldOf(sight)} AND ${which})`
  return allOf([
    ...(senderIds === undefined ? [] : [sql`m.sender_id IN ${anyOf(senderIds)}`]),
    ...(recipientIds === undefined ? [] : [delivered(sql`d.recipient_id IN ${anyOf(recipientIds)}`)]),
    ...(importance === undefined ? [] : [sql`m.importance = ${importance}`]),
    ...(unread ? [delivered(sql`d.read_at IS NULL`)] : []),
    ...(attached ? [sql`m.attachments IS NOT NULL`] : []),
    ...(since === undefined ? [] : [sql`m.created_at >= ${since}`]),
    ...(until === undefined ? [] : [sql`m.created_at <= ${until}`]),
  ])
}

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
