/** Reads that take long, in a thread of their own: the event loop of the program stays free meanwhile. */
import type { Sql } from 'sql-template-tag'
import { moduleBeside } from '../../base/modules.ts'
import type { LongReader } from '../port.ts'
import { WorkerClient } from './worker-client.ts'

/** To the thread: a query, or a module that looks for itself. */
export type Question = Query | { readonly module: string; readonly wish: unknown }

interface Query {
  readonly strings: readonly string[]
  readonly values: readonly unknown[]
}

const script = moduleBeside(import.meta.url, 'long-reads-thread')

/** Its heap and its cache take 20 MB. It starts in 60 ms, for the first who asks after so long a rest. */
const restMs = 20_000

/** Twenty rows cost 220 µs by this way instead of 17: it is for reads that may take milliseconds. */
export class LongReads implements LongReader {
  readonly dialect = 'sqlite'
  readonly #thread: WorkerClient<Question>

  constructor(file: string) {
    this.#thread = new WorkerClient(script, { startData: file, restMs })
  }

  all<Row>(query: Sql): Promise<Row[]> {
    return this.#thread.ask({ strings: query.strings, values: query.values })
  }

  look<Answer>(module: URL, wish: unknown): Promise<Answer> {
    return this.#thread.ask({ module: module.href, wish })
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}
