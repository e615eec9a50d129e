/** The thread in which units of work run apart (sqlite.ts): a writing connection of its own, one unit after the other. */
import { workerData } from 'node:worker_threads'
import type { Work } from '../port.ts'
import { answerQuestions } from './answering.ts'
import { prepareWriting, SqliteConnection } from './connection.ts'
import { type Identities, SqlitePlace } from './place.ts'
import { SqliteWriter } from './writer.ts'

export interface ApartTold {
  readonly file: string
  /** The files that the process has open: what was put in their place is left alone. */
  readonly identities: Identities
  readonly patienceMs: number
}

/** To the thread: the module whose `work` is the unit, and what that is told. */
export interface ApartQuestion {
  readonly module: string
  readonly wish: unknown
}

const { file, identities, patienceMs } = workerData as ApartTold
const place = new SqlitePlace(file, { known: identities })
place.checkFile()
const connection = new SqliteConnection(file, { timeout: 0 })
prepareWriting(connection)
const writer = new SqliteWriter(connection, { patienceMs, committed: () => place.checkFile() })

answerQuestions<ApartQuestion>(
  async ({ module, wish }) => {
    const { work } = (await import(module)) as { work: Work<unknown> }
    return writer.tx((tx) => work(tx, wish), true)
  },
  () => writer.close(async () => {}),
)
