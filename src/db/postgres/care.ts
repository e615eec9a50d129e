/** Looking after a database of PostgreSQL, beside servers that go on: on a connection of its own, whose statements may take long. */
import { Client } from 'pg'
import type { DatabaseCare } from '../care.ts'
import { clientSettings, connectionError } from './settings.ts'

interface Table {
  readonly name: string
  readonly bytes: number
  readonly rows: number
}

/** The tables of the schema that the connection uses. */
const tables = `
  SELECT c.relname AS name, pg_total_relation_size(c.oid) AS bytes, c.oid::regclass::text AS called
  FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' ORDER BY c.relname`

const halfMade = `
  SELECT i.indexrelid::regclass::text AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
  WHERE c.relnamespace = current_schema()::regnamespace AND NOT (i.indisvalid AND i.indisready)`

const unchecked = `
  SELECT conname AS name, conrelid::regclass::text AS of FROM pg_constraint
  WHERE connamespace = current_schema()::regnamespace AND NOT convalidated`

/** With the extension amcheck the order of each index is checked too. */
const indexes = `
  SELECT i.indexrelid::regclass::text AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    JOIN pg_am a ON a.oid = c.relam
  WHERE a.amname = 'btree' AND c.relnamespace = current_schema()::regnamespace`

export async function careOfPostgres(url: string): Promise<DatabaseCare> {
  const settings = { ...clientSettings(url), statement_timeout: 0, query_timeout: 0, lock_timeout: 0 }
  const client = new Client(settings)
  // A connection that breaks fails its statement; nobody else listens.
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    throw connectionError(settings, error)
  }
  const all = async <Row>(text: string): Promise<Row[]> => (await client.query(text)).rows as Row[]
  const listTables = () => all<Table & { called: string }>(tables)

  return {
    async check(progress) {
      const faults: string[] = []
      for (const { name } of await all<{ name: string }>(halfMade)) faults.push(`the index ${name} is not whole`)
      for (const { name, of } of await all<{ name: string; of: string }>(unchecked))
        faults.push(`the rows of ${of} were never checked against ${name}`)
      const found = await listTables()
      for (const [at, { name, called }] of found.entries()) {
        progress(at, found.length)
        // Every value is read: a page that cannot be read fails the statement.
        await all(`SELECT COUNT(t::text) FROM ${called} t`).catch((error: Error) =>
          faults.push(`${name} cannot be read: ${error.message}`),
        )
      }
      const [amcheck] = await all("SELECT 1 FROM pg_extension WHERE extname = 'amcheck'")
      for (const { name } of amcheck === undefined ? [] : await all<{ name: string }>(indexes))
        await all(`SELECT bt_index_check('${name.replaceAll("'", "''")}'::regclass)`).catch((error: Error) =>
          faults.push(`the index ${name} is damaged: ${error.message}`),
        )
      progress(found.length, found.length)
      return faults
    },

    async vacuum(progress) {
      const found = await listTables()
      for (const [at, { called }] of found.entries()) {
        progress(at, found.length)
        await all(`VACUUM (ANALYZE) ${called}`)
      }
      progress(found.length, found.length)
    },

    async stats() {
      const found = await listTables()
      const rows: Table[] = []
      let bytes = 0
      for (const { name, called, bytes: size } of found) {
        bytes += Number(size)
        const [row] = await all<{ count: number }>(`SELECT COUNT(*) AS count FROM ${called}`)
        rows.push({ name, bytes: Number(size), rows: Number(row?.count ?? 0) })
      }
      const [version] = await all<{ server_version: string }>('SHOW server_version')
      const [dead] = await all<{ bytes: number | null }>(`
        SELECT SUM(n_dead_tup * pg_relation_size(relid) / GREATEST(n_live_tup + n_dead_tup, 1)) AS bytes
        FROM pg_stat_user_tables WHERE schemaname = current_schema()`)
      return {
        engine: `PostgreSQL ${version?.server_version ?? ''}`,
        bytes,
        freeBytes: Math.round(Number(dead?.bytes ?? 0)),
        tables: rows,
      }
    },

    close: () => client.end(),
  }
}
