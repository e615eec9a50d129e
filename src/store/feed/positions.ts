/** A place in the feed of changes, and the order of the feed on each engine: the one spot where they differ. */
import sql, { raw, type Sql } from 'sql-template-tag'
import { can } from '../../db/dialect.ts'
import type { Reader } from '../../db/port.ts'

/** Everything up to and including the change of this transaction and id. On SQLite `tx` is always 0. */
export interface FeedPosition {
  readonly tx: number
  readonly id: number
}

export const start: FeedPosition = { tx: 0, id: 0 }

export const isBefore = (one: FeedPosition, other: FeedPosition): boolean =>
  one.tx === other.tx ? one.id < other.id : one.tx < other.tx

export const isSame = (one: FeedPosition | undefined, other: FeedPosition | undefined): boolean =>
  one?.tx === other?.tx && one?.id === other?.id

interface FeedOrder {
  /** The transaction of a row. */
  readonly tx: Sql
  /** The columns to order by. */
  readonly columns: Sql
  after(place: FeedPosition): Sql
  /** After the watermark of a follower, as of this statement. */
  afterFollower(name: string): Sql
  upTo(place: FeedPosition): Sql
  /** Nothing that comes to be committed can stand before such a row. */
  readonly settled: Sql
  /** A row of `changes` or `followers` that came with a copy of another server's database: this one has not counted as far. */
  readonly foreign: Sql
  /** Selects the place after everything that is settled now. */
  readonly end: Sql
  /** A text that is the same while no change is committed, whatever else the server commits. */
  readonly mark: Sql
}

/** One writer at a time: ids are in the order of the commits. */
const sqlite: FeedOrder = {
  tx: raw('0'),
  columns: raw('id'),
  after: ({ id }) => sql`id > ${id}`,
  afterFollower: (name) => sql`id > COALESCE((SELECT change_id FROM followers WHERE name = ${name}), 0)`,
  upTo: ({ id }) => sql`id <= ${id}`,
  settled: raw('TRUE'),
  foreign: raw('FALSE'),
  end: raw('SELECT 0 AS tx, COALESCE(MAX(id), 0) AS id FROM changes'),
  mark: raw('(SELECT CAST(COALESCE(MAX(id), 0) AS TEXT) FROM changes)'),
}

/**
 * The oldest open transaction among those that `counts`, or else the next one. A snapshot names the open ones of every database
 * of the server: those of others would hold up this feed for as long as they last. The caller's own is in no snapshot.
 */
const oldest = (counts: string) => `(
  SELECT LEAST(
    pg_current_xact_id_if_assigned()::text::bigint,
    CASE WHEN pg_snapshot_xmin(s) < pg_snapshot_xmax(s)
      THEN (SELECT MIN(x::text::bigint) FROM pg_snapshot_xip(s) x WHERE ${counts}) END,
    pg_snapshot_xmax(s)::text::bigint)
  FROM pg_current_snapshot() s)`

const backend = (which: string) =>
  `(SELECT 1 FROM pg_stat_get_activity(NULL) b WHERE b.backend_xid = x::xid AND b.datid ${which}
    (SELECT oid FROM pg_database WHERE datname = current_database()))`

/**
 * The backends are looked at after the snapshot was taken. A transaction that ended in between is found with none of them, and its
 * rows are not in sight yet: it counts as open for whoever reads rows, and not for the end, which then never goes back.
 */
const horizon = oldest(`NOT EXISTS ${backend('<>')}`)
const end = oldest(`EXISTS ${backend('=')}`)

/**
 * Ids are taken before the commit: a row of an open transaction may come to stand before those that are there. It cannot
 * stand before rows of transactions older than every open one of this database, and new transactions get higher numbers.
 * The order keeps that of each writer, and no more: of two writers at once, the one who began first comes first.
 */
const postgres: FeedOrder = {
  tx: raw('tx'),
  columns: raw('tx, id'),
  after: ({ tx, id }) => sql`(tx, id) > (${tx}, ${id})`,
  afterFollower: (name) =>
    sql`(tx, id) > (SELECT COALESCE(MAX(tx), 0), COALESCE(MAX(change_id), 0) FROM followers WHERE name = ${name})`,
  upTo: ({ tx, id }) => sql`(tx, id) <= (${tx}, ${id})`,
  settled: raw(`tx < ${horizon}`),
  foreign: raw('tx > pg_snapshot_xmax(pg_current_snapshot())::text::bigint'),
  end: raw(`SELECT ${end} AS tx, 0 AS id`),
  // Ids become visible out of order, by as many as there are writers at once: one that comes late is counted.
  mark: raw(`(SELECT COALESCE(MAX(id), 0)::text || ' ' || COUNT(*)::text FROM changes
    WHERE id > (SELECT MAX(id) FROM changes) - 100)`),
}

export const feedOrder = (db: Reader): FeedOrder => (can(db).concurrentWriters ? postgres : sqlite)
