/** The thread of long-reads.ts: one reading connection, one question after the other. */
import { parentPort, workerData } from 'node:worker_threads'
import { Sql } from 'sql-template-tag'
import type { Look } from '../port.ts'
import type { Functions } from './calling.ts'
import { openReading, type SqliteConnection } from './connection.ts'
import type { Answer, Query, Question } from './long-reads.ts'

/** In KB. With SQLite's own 2 MB a rare word among a million messages takes half as long again: it is looked for everywhere. */
const cacheSize = 8000

/** Short answers go back together, and none waits longer than this for another. */
const heldBackMs = 2

let connection: SqliteConnection | undefined
const modules = new Set<string>()

async function answer(question: Question): Promise<Answer> {
  const { id } = question
  try {
    connection ??= open()
    return { id, found: 'wish' in question ? await look(connection, question) : await ask(connection, question) }
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: number }
    return { id, failed: { message, errcode } }
  }
}

function open(): SqliteConnection {
  const reading = openReading(workerData as string)
  reading.pragma(`cache_size = -${cacheSize}`)
  return reading
}

async function ask(reading: SqliteConnection, { strings, values, module }: Query): Promise<unknown[]> {
  if (module !== undefined && !modules.has(module)) {
    reading.define((await import(module)) as Functions)
    modules.add(module)
  }
  return reading.all(new Sql(strings, values))
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

async function answerAll(questions: readonly Question[]): Promise<void> {
  let answers: Answer[] = []
  let since = performance.now()
  for (const question of questions) {
    answers.push(await answer(question))
    if (performance.now() - since < heldBackMs) continue
    send(answers)
    answers = []
    since = performance.now()
  }
  if (answers.length > 0) send(answers)
}

/** The bytes of a look are handed over, not copied. */
function send(answers: Answer[]): void {
  const found = answers.map((one) => ('found' in one ? one.found : undefined))
  parentPort?.postMessage(
    answers,
    found.flatMap((one) => (isBytes(one) ? one.bytes.buffer : [])),
  )
}

const isBytes = (found: unknown): found is { bytes: Uint8Array<ArrayBuffer> } =>
  typeof found === 'object' && found !== null && 'bytes' in found && found.bytes instanceof Uint8Array

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
