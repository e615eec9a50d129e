/** Names for the statements that PostgreSQL keeps prepared on each connection. */
import type { QueryConfig } from 'pg'
import type { Sql } from 'sql-template-tag'
import { Statements } from '../statements.ts'

/** The server keeps a named statement as long as the connection lives: only the first few hundred get a name. */
const mostNamed = 500

interface Named {
  readonly text: string
  readonly name: string | undefined
}

export class PostgresStatements {
  readonly #limit: number
  readonly #names = new Map<string, string>()
  readonly #statements = new Statements<Named>(({ text }) => ({ text, name: this.#nameFor(text) }))

  /** `limit` 0: behind a pooler the next statement may run on another connection of the server, which knows none of them. */
  constructor(limit = mostNamed) {
    this.#limit = limit
  }

  bind(query: Sql): QueryConfig {
    const { text, name } = this.#statements.for(query)
    return name === undefined ? { text, values: query.values } : { name, text, values: query.values }
  }

  #nameFor(text: string): string | undefined {
    let name = this.#names.get(text)
    if (name === undefined && this.#names.size < this.#limit) {
      name = `parley_${this.#names.size}`
      this.#names.set(text, name)
    }
    return name
  }
}
