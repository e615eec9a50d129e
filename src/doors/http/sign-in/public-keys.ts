/** The public keys of an authorisation server: fetched when they are needed, kept while it is away. */
import type { JSONWebKeySet, JWTHeaderParameters, JWTVerifyGetKey } from 'jose'
import type { Clock } from '../../../base/clock.ts'
import type { Log } from '../../../base/log.ts'
import { BadToken } from './claims.ts'

interface KeyServerOptions {
  readonly url: string
  readonly clock: Clock
  readonly log: Log
  /** Makes a look-up of a set of keys; throws for what is none. */
  readAs(keys: JSONWebKeySet): JWTVerifyGetKey
  /** Called when the keys are no longer the same: what was verified with them is in doubt. */
  changed(): void
}

/** A new key is found this long after the last look, whoever asks for keys that nobody has in between (all.token.rotation). */
const restMs = 30_000
/** The same after a look that failed. */
const failedRestMs = 5000
/** Older keys are fetched again, while they are still used: one that was withdrawn is refused from then on. */
const freshMs = 5 * 60_000
/** The longest that a token with an unknown key waits for its answer. */
const patienceMs = 10_000
const mostBytes = 512 * 1024

interface KeyServer {
  readonly find: JWTVerifyGetKey
  /** Fetches keys that are old, and lets nobody wait for them. */
  keepFresh(): void
  close(): void
}

export function createKeyServer({ url, clock, log, readAs, changed }: KeyServerOptions): KeyServer {
  let keys: { readonly find: JWTVerifyGetKey; readonly text: string } | undefined
  let fetchedAt = Number.NEGATIVE_INFINITY
  let restUntil = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | undefined
  const ended = new AbortController()

  /** Never rejects: those who need a key look whether it is there. */
  const look = (): Promise<void> => {
    looking ??= fetchKeys(url, clock, ended.signal)
      .then((text) => {
        const before = keys?.text
        if (before !== text) keys = { find: readAs(JSON.parse(text) as JSONWebKeySet), text }
        fetchedAt = clock.monotonic()
        restUntil = fetchedAt + restMs
        if (before !== undefined && before !== text) changed()
      })
      .catch((error: unknown) => {
        restUntil = clock.monotonic() + failedRestMs
        const reason = error instanceof Error ? error.message : String(error)
        if (!ended.signal.aborted) log.warn({ reason }, 'the keys of the authorisation server could not be fetched')
      })
      .finally(() => {
        looking = undefined
      })
    return looking
  }

  const isResting = (): boolean => looking === undefined && clock.monotonic() < restUntil

  const keepFresh = (): void => {
    if (looking === undefined && clock.monotonic() - fetchedAt > freshMs && !isResting()) void look()
  }

  const find = async (...[header, token]: Parameters<JWTVerifyGetKey>) => {
    if (header.kid === undefined) throw new BadToken('The token does not name its key ("kid").')
    keepFresh()
    const known = keys && (await findIn(keys.find, header, token))
    if (known !== undefined) return known
    if (isResting()) throw unknownKey()
    await look()
    const found = keys && (await findIn(keys.find, header, token))
    if (found === undefined) throw unknownKey()
    return found
  }

  void look()
  return { find, keepFresh, close: () => ended.abort() }
}

const unknownKey = (): BadToken => new BadToken('The token is signed with a key that is not known here.')

/** Undefined where the set has no such key, or several: jose says so by errors. */
const findIn = async (find: JWTVerifyGetKey, header: JWTHeaderParameters, token: Parameters<JWTVerifyGetKey>[1]) => {
  try {
    return await find(header, token)
  } catch {
    return undefined
  }
}

async function fetchKeys(url: string, clock: Clock, ended: AbortSignal): Promise<string> {
  const late = new AbortController()
  const cancel = clock.after(patienceMs, () => late.abort(new Error(`no answer within ${patienceMs / 1000} s`)))
  try {
    const signal = AbortSignal.any([ended, late.signal])
    const response = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } })
    if (response.status !== 200) throw new Error(`status ${response.status}`)
    return await read(response)
  } finally {
    cancel()
  }
}

async function read({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body ?? []) {
    size += part.length
    if (size > mostBytes) throw new Error(`more than ${mostBytes} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}
