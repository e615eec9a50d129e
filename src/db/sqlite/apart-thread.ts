/** The thread in which units of work run apart (sqlite.ts): a writing connection of its own, one unit after the other. */
import { workerData } from 'node:worker_threads'
import type { Work } from '../port.ts'
import { answerQuestions } from './answering.ts'
import { whileBusy } from './busy.ts'
import { prepareWriting, SqliteConnection } from './connection.ts'
import { type Identities, SqlitePlace } from './place.ts'
import { SqliteWriter } from './writer.ts'

export interface ApartTold {
  readonly file: string
  /** The files that the process has open: what was put in their place is left alone. */
  readonly identities: Identities
  readonly patienceMs: number
}

/** To the thread: the module whose `work` is the unit, and what that is told; without that it only gets ready. */
export interface ApartQuestion {
  readonly module: string
  readonly wish?: unknown
}

const { file, identities, patienceMs } = workerData as ApartTold
let writer: SqliteWriter | undefined

async function open(): Promise<SqliteWriter> {
  const place = new SqlitePlace(file, { known: identities })
  place.checkFile()
  const connection = new SqliteConnection(file, { timeout: 0 })
  await whileBusy(() => prepareWriting(connection), patienceMs)
  place.checkFile()
  // All that runs here is repeatable: nobody waits for the disk.
  return new SqliteWriter(connection, { patienceMs, keep: () => {}, committed: () => place.checkFile() })
}

answerQuestions<ApartQuestion>(
  async (question) => {
    const { work } = (await import(question.module)) as { work: Work<unknown> }
    writer ??= await open()
    if ('wish' in question) return writer.tx((tx) => work(tx, question.wish), true)
  },
  () => writer?.close(async () => {}),
)
