/** The thread of long-reads.ts: one reading connection, one question after the other. */
import { parentPort, workerData } from 'node:worker_threads'
import { Sql } from 'sql-template-tag'
import { openReading, type SqliteConnection } from './connection.ts'
import type { Answer, Question } from './long-reads.ts'

let connection: SqliteConnection | undefined

function answer({ id, strings, values }: Question): Answer {
  try {
    connection ??= openReading(workerData as string)
    return { id, rows: connection.all(new Sql(strings, values)) }
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: number }
    return { id, failed: { message, errcode } }
  }
}

parentPort?.on('message', (question: Question | 'close') => {
  if (question !== 'close') return parentPort?.postMessage(answer(question))
  connection?.close()
  parentPort?.close()
})
