/** The thread of long-reads.ts: one reading connection, one question after the other. */
import { workerData } from 'node:worker_threads'
import { Sql } from 'sql-template-tag'
import type { Look } from '../port.ts'
import { openReading, type SqliteConnection } from './connection.ts'
import type { Question } from './long-reads.ts'
import { answerQuestions } from './worker-server.ts'

/** In KB. With SQLite's own 2 MB a rare word among a million messages takes half as long again: it is looked for everywhere. */
const cacheSize = 8000

let connection: SqliteConnection | undefined

function open(): SqliteConnection {
  const reading = openReading(workerData as string)
  reading.pragma(`cache_size = -${cacheSize}`)
  return reading
}

async function look(reading: SqliteConnection, { module, wish }: { module: string; wish: unknown }): Promise<unknown> {
  const { look } = (await import(module)) as { look: Look<unknown> }
  reading.prepare('BEGIN').run()
  try {
    return await look({ dialect: 'sqlite', all: async <Row>(query: Sql) => reading.all(query) as Row[] }, wish)
  } finally {
    if (reading.inTransaction) reading.prepare('COMMIT').run()
  }
}

answerQuestions<Question>(
  async (question) => {
    connection ??= open()
    return 'wish' in question ? look(connection, question) : connection.all(new Sql(question.strings, question.values))
  },
  () => connection?.close(),
)
