/** Reads that take long, in a thread of their own: the event loop of the program stays free meanwhile. */
import type { Sql } from 'sql-template-tag'
import { moduleBeside } from '../../base/modules.ts'
import { shuttingDown } from '../faults.ts'
import type { LongReader } from '../port.ts'
import { WorkerClient } from './worker-client.ts'

/** To the thread: a query, a module that looks for itself, or that the database is closed. */
export type Question = Wish & Place

type Wish = Query | { readonly module: string; readonly wish: unknown } | { readonly leave: true }

interface Query {
  readonly strings: readonly string[]
  readonly values: readonly unknown[]
}

/** Each database has a connection of its own, under its number. */
interface Place {
  readonly of: number
  readonly file: string
}

const script = moduleBeside(import.meta.url, 'long-reads-thread')

/** Its heap and its cache take 20 MB. It starts in 60 ms, for the first who asks after so long a rest. */
const restMs = 20_000

/** One for all databases of the process. */
const thread = new WorkerClient<Question>(script, { restMs })

let opened = 0

/** Twenty rows cost 220 µs by this way instead of 17: it is for reads that may take milliseconds. */
export class LongReads implements LongReader {
  readonly dialect = 'sqlite'
  readonly #place: Place
  readonly #open = new Set<(error: unknown) => void>()
  #asked = false
  #closed = false

  constructor(file: string) {
    this.#place = { of: ++opened, file }
  }

  all<Row>(query: Sql): Promise<Row[]> {
    return this.#ask({ strings: query.strings, values: query.values })
  }

  look<Answer>(module: URL, wish: unknown): Promise<Answer> {
    return this.#ask({ module: module.href, wish })
  }

  /**
   * Questions that are open come to their end as errors: nobody waits for a search that takes long when the program stops. The
   * thread itself closes its connection, if it can be heard: then the one that is closed after it is the last, and removes the WAL.
   */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    for (const fail of this.#open) fail(shuttingDown())
    if (this.#asked) await thread.tellLast({ leave: true, ...this.#place })
  }

  async #ask<Found>(wish: Wish): Promise<Found> {
    if (this.#closed) throw shuttingDown()
    this.#asked = true
    const { promise, resolve, reject } = Promise.withResolvers<Found>()
    this.#open.add(reject)
    thread.ask<Found>({ ...wish, ...this.#place }).then(resolve, reject)
    return promise.finally(() => this.#open.delete(reject))
  }
}
