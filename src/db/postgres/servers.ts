/** The servers of one database: which of them takes writes, and the search for another when it does so no longer. */
import { Client, type ClientConfig } from 'pg'
import { pause } from '../../base/clock.ts'
import { HubError } from '../../base/errors.ts'
import { isPostgresLost, isPostgresReadOnly } from '../faults.ts'
import { serversIn } from '../url.ts'

/** A server that does not answer a question in this time is not waited for. */
const answerTimeoutMs = 2_000

/** The server that was left has this long to say that it takes writes all the same: it may be the same one under another name. */
const formerTimeoutMs = 500

/** Between two questions to a server that takes no writes. */
const roundMs = 50

/** The values of `target_session_attrs` for a program that writes, as Parley does. */
const writable: ReadonlySet<string | null> = new Set(['read-write', 'primary'])

export class Servers {
  readonly all: readonly ClientConfig[]
  /** Whether another server may take over: several are named, or the URL asks for one that takes writes. */
  readonly change: boolean
  /** Called with a server that takes writes no longer, once another does: it may never answer what it was asked. */
  left: (server: ClientConfig) => void = () => {}
  readonly #patienceMs: number
  #last: ClientConfig | undefined
  #chosen: ClientConfig | undefined
  #search: Promise<void> | undefined

  /** `settingsOf` makes the settings of a connection from the URL of one server. */
  constructor(url: string, settingsOf: (url: string) => ClientConfig) {
    const urls = serversIn(url)
    const asked = new URLSearchParams(/\?([^#]*)/s.exec(url)?.[1]).get('target_session_attrs')
    if (asked !== null && !writable.has(asked) && (asked !== 'any' || urls.length > 1))
      throw new HubError(
        'INVALID_ARGUMENT',
        `target_session_attrs=${asked} in DATABASE_URL is not for Parley, which writes.`,
        {
          hint: 'Use target_session_attrs=read-write.',
        },
      )
    this.all = urls.map(settingsOf)
    this.change = urls.length > 1 || writable.has(asked)
    this.#patienceMs = this.all[0]?.connectionTimeoutMillis ?? 0
  }

  /** For a new connection: the server that took writes last, else the first that is named. */
  get chosen(): ClientConfig {
    return this.#chosen ?? this.all[0] ?? {}
  }

  /** Resolves once a server takes writes, and rejects when none did for as long as a connection may take. Many callers share one search. */
  async find(until = performance.now() + this.#patienceMs): Promise<void> {
    if (!this.change || this.#chosen !== undefined) return
    this.#search ??= this.#look(until).finally(() => {
      this.#search = undefined
    })
    await this.#search
  }

  /** The connection failed, or the server refused to write: it is asked again, with all others. */
  forget(): void {
    this.#chosen = undefined
  }

  /** Each is asked again and again by itself: one that is silent, as a pooler whose server is gone, holds up no other. */
  async #look(until: number): Promise<void> {
    const over = new AbortController()
    try {
      const chosen = await Promise.any(this.all.map((one) => askUntilWritable(one, until, over.signal)))
      const former = this.#last
      if (former !== undefined && former !== chosen)
        needWritable(former, formerTimeoutMs).catch(() => this.left(former))
      this.#last = this.#chosen = chosen
    } catch (error) {
      const reasons = error instanceof AggregateError ? error.errors : [error]
      throw reasons.find((reason) => !isPostgresReadOnly(reason)) ?? reasons[0]
    } finally {
      over.abort()
    }
  }
}

async function askUntilWritable(settings: ClientConfig, until: number, over: AbortSignal): Promise<ClientConfig> {
  for (;;)
    try {
      return await needWritable(settings)
    } catch (error) {
      // A wrong password does not get right by waiting.
      const passes = isPostgresLost(error) || isPostgresReadOnly(error)
      if (!passes || over.aborted || performance.now() > until) throw error
      await pause(roundMs, over)
    }
}

async function needWritable(settings: ClientConfig, timeoutMs = answerTimeoutMs): Promise<ClientConfig> {
  const client = new Client({ ...settings, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs })
  client.on('error', () => {})
  try {
    await client.connect()
    await needWrites(client, timeoutMs)
    return settings
  } finally {
    // Not awaited: a server that is silent would be waited for.
    client.end().catch(() => {})
  }
}

/** Rejects, as the server would a write, on a connection to one that only reads. */
export async function needWrites(client: Pick<Client, 'query'>, timeoutMs = answerTimeoutMs): Promise<void> {
  const question = { text: 'SHOW transaction_read_only', query_timeout: timeoutMs }
  const { rows } = await client.query<{ transaction_read_only: string }>(question)
  if (rows[0]?.transaction_read_only !== 'off')
    throw Object.assign(new Error('The server only reads: another one takes writes.'), { code: '25006' })
}
