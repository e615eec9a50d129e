/** Fills the search index of a store behind Parley's back, for stores of a million messages: in half of the time that its steps take. */
import { DatabaseSync } from 'node:sqlite'
import type { Sql } from 'sql-template-tag'
import type { Reader } from '../src/db/port.ts'
import { listDocuments } from '../src/store/search/documents.ts'

/** As in store/search/sqlite.ts. */
const wordsInPart = 1_000_000
/** So many messages are read at once, and belong to one part. */
const readAtOnce = 1000

/**
 * The same tables with the same rows as by store/search/sqlite.ts, each part in one piece. A step there is a commit of 32 messages
 * that merges some pages; here a part is one commit, merged once.
 */
export async function seedIndex(file: string): Promise<void> {
  const db = new DatabaseSync(file)
  db.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -200000')
  const reader = {
    dialect: 'sqlite',
    all: async ({ sql, values }: Sql) => db.prepare(sql).all(...(values as string[])),
  } as unknown as Reader
  const next = db.prepare('SELECT id FROM messages WHERE id > ? ORDER BY id LIMIT ?')
  const idsAfter = (id: number) => next.all(id, readAtOnce).map((row) => Number(row.id))
  let ids = idsAfter(0)
  for (let part = 1; ids.length > 0; part++) {
    const table = `search_${part}`
    db.exec(`BEGIN;
      CREATE VIRTUAL TABLE IF NOT EXISTS ${table} USING fts5(subject, body, sender, thread, scope, content='', tokenize='ascii');
      INSERT INTO ${table} (${table}, rank) VALUES ('pgsz', 1000);
      INSERT INTO ${table} (${table}, rank) VALUES ('automerge', 0);
      INSERT INTO ${table} (${table}, rank) VALUES ('crisismerge', 1000);
      INSERT INTO ${table} (${table}, rank) VALUES ('usermerge', 8);`)
    const insert = db.prepare(
      `INSERT INTO ${table} (rowid, subject, body, sender, thread, scope) VALUES (?, ?, ?, ?, ?, ?)`,
    )
    let [words, reached] = [0, 0]
    let shared: readonly string[] | undefined
    while (ids.length > 0 && words < wordsInPart) {
      for (const { id, words: of, scopes } of await listDocuments(reader, ids)) {
        const fields = [of.subject, of.body, of.from, of.thread, scopes]
        insert.run(id, ...fields.map((field) => field.join(' ')))
        words += fields.reduce((sum, field) => sum + field.length, 0)
        shared = shared === undefined ? scopes : shared.filter((scope) => scopes.includes(scope))
        reached = id
      }
      ids = idsAfter(reached)
    }
    // The last part goes on growing.
    const merged = ids.length > 0 ? 1 : 0
    if (merged) db.exec(`INSERT INTO ${table} (${table}) VALUES ('optimize')`)
    db.prepare('INSERT INTO search_parts (part, last_id, words, scopes, merged) VALUES (?, ?, ?, ?, ?)').run(
      part,
      reached,
      words,
      (shared ?? []).join(' '),
      merged,
    )
    db.exec('COMMIT')
  }
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}
