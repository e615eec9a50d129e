/** The thread of long-reads.ts: one reading connection, one question after the other. */
import { parentPort, workerData } from 'node:worker_threads'
import { Sql } from 'sql-template-tag'
import type { Functions } from './calling.ts'
import { openReading, type SqliteConnection } from './connection.ts'
import type { Answer, Question } from './long-reads.ts'

/** In KB. With SQLite's own 2 MB a rare word among a million messages takes half as long again: it is looked for everywhere. */
const cacheSize = 8000

/** Short answers go back together, and none waits longer than this for another. */
const heldBackMs = 2

let connection: SqliteConnection | undefined
const modules = new Set<string>()

async function answer({ id, strings, values, module }: Question): Promise<Answer> {
  try {
    if (connection === undefined) {
      connection = openReading(workerData as string)
      connection.pragma(`cache_size = -${cacheSize}`)
    }
    if (module !== undefined && !modules.has(module)) {
      connection.define((await import(module)) as Functions)
      modules.add(module)
    }
    return { id, rows: connection.all(new Sql(strings, values)) }
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: number }
    return { id, failed: { message, errcode } }
  }
}

async function answerAll(questions: readonly Question[]): Promise<void> {
  let answers: Answer[] = []
  let since = performance.now()
  for (const question of questions) {
    answers.push(await answer(question))
    if (performance.now() - since < heldBackMs) continue
    parentPort?.postMessage(answers)
    answers = []
    since = performance.now()
  }
  if (answers.length > 0) parentPort?.postMessage(answers)
}

let last = Promise.resolve()

parentPort?.on('message', (questions: Question[] | 'close') => {
  if (questions !== 'close') {
    last = last.then(() => answerAll(questions))
    return
  }
  void last.then(() => {
    connection?.close()
    parentPort?.close()
  })
})
