/** The thread of long-reads.ts: a reading connection for each database, and one question after the other. */
import { Sql } from 'sql-template-tag'
import type { Look } from '../port.ts'
import { openReading, type SqliteConnection } from './connection.ts'
import type { Question } from './long-reads.ts'
import { answerQuestions } from './worker-server.ts'

/** In KB. With SQLite's own 2 MB a rare word among a million messages takes half as long again: it is looked for everywhere. */
const cacheSize = 8000

const connections = new Map<number, SqliteConnection>()

function connectionOf({ of, file }: Question): SqliteConnection {
  const known = connections.get(of)
  if (known !== undefined) return known
  const reading = openReading(file)
  reading.pragma(`cache_size = -${cacheSize}`)
  connections.set(of, reading)
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

function leave(of: number): void {
  connections.get(of)?.close()
  connections.delete(of)
}

answerQuestions<Question>(
  async (question) => {
    if ('leave' in question) return leave(question.of)
    const reading = connectionOf(question)
    return 'wish' in question ? look(reading, question) : reading.all(new Sql(question.strings, question.values))
  },
  () => {
    for (const of of connections.keys()) leave(of)
  },
)
