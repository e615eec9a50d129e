/** How a database with Parley's tables becomes like new: what to look at, and what to write. */
import type { Client } from 'pg'

export interface PostgresReset {
  /** Selects whether the schema is the template's (`kept`) and the files are small: rows that were deleted stay in them. */
  readonly isLikeNew: string
  /** Leaves the rows that migrations put in, and begins all ids anew. */
  readonly empty: readonly string[]
}

/** Each change of the schema, or of a setting of a database, writes a row into one of these. */
const catalogues = [
  'pg_attrdef',
  'pg_attribute',
  'pg_class',
  'pg_constraint',
  'pg_db_role_setting',
  'pg_event_trigger',
  'pg_extension',
  'pg_index',
  'pg_largeobject_metadata',
  'pg_namespace',
  'pg_policy',
  'pg_proc',
  'pg_rewrite',
  'pg_sequence',
  'pg_statistic_ext',
  'pg_trigger',
  'pg_type',
]

/** Of all tables. To delete the rows of more takes longer than to copy a database. */
const mostBytes = 2 ** 20

const tables = `pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`

/** Written once for a run, from the template. */
export async function writeReset(template: Client): Promise<PostgresReset> {
  const all = async <Row>(query: string): Promise<Row[]> => (await template.query(query)).rows
  const parts = catalogues.map((name) => `SELECT xmin FROM ${name}`).join(' UNION ALL ')
  const [then] = await all<{ xid: string; parts: string; analyzed: string }>(`
    SELECT pg_current_xact_id()::text AS xid, (SELECT COUNT(*) FROM (${parts}) parts) AS parts,
      (SELECT SUM(reltuples) FROM ${tables}) AS analyzed`)
  const names = (await all<{ name: string }>(`SELECT oid::regclass::text AS name FROM ${tables}`)).map(
    ({ name }) => name,
  )
  const inserts: string[] = []
  for (const name of names) {
    const [found] = await all<{ rows: string | null }>(`SELECT quote_literal(json_agg(t)) AS rows FROM ${name} t`)
    if (found?.rows)
      inserts.push(`INSERT INTO ${name} SELECT * FROM json_populate_recordset(NULL::${name}, ${found.rows})`)
  }
  const numbers = await all<{ start: string }>(`
    SELECT format('setval(%L, %s, %L)', seqrelid::regclass, COALESCE(last, seqstart), last IS NOT NULL) AS start
    FROM pg_sequence, pg_sequence_last_value(seqrelid) last`)
  return {
    isLikeNew: `
      SELECT COUNT(*) = ${then?.parts} AND COUNT(*) FILTER (WHERE age(xmin) < age('${then?.xid}'::xid)) = 0 AND (
        SELECT SUM(reltuples) = ${then?.analyzed} AND SUM(pg_table_size(oid)) < ${mostBytes} FROM ${tables}) AS kept
      FROM (${parts}) parts`,
    empty: [
      // One statement: foreign keys are looked at when all of the rows have gone.
      `WITH ${names.map((name, n) => `deleted_${n} AS (DELETE FROM ${name})`).join(', ')} SELECT`,
      ...inserts,
      `SELECT ${numbers.map(({ start }) => start).join(', ')}`,
    ],
  }
}
