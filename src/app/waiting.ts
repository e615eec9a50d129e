/** Waiting for mail by the hooks door, again and again, as long as somebody needs it: what `parley wait` and `parley attach` share. */
import { every, pause, systemClock } from '../base/clock.ts'
import { HubError } from '../base/errors.ts'
import { createIds } from '../base/ids.ts'
import { parsedJson } from '../base/json.ts'
import { isRunning, processOf } from '../base/processes.ts'
import { Lost } from '../doors/connect/wire.ts'
import { Backoff } from '../doors/mailbox-client/backoff.ts'
import { ask, refusal } from './asking.ts'
import type { Asked } from './waker.ts'
import type { WakerCalling } from './waker-calling.ts'

export type Ended = 'mail' | 'over' | 'displaced' | 'gone'

/** One question; proxies cut at 60 s. The server may answer earlier (MAX_WAIT_SECONDS). */
const askSeconds = 50

/** An answer that is this late will not come: the machine slept, or the connection is gone. */
const lateMs = 10_000

/** The client may be killed without a word. */
const lookEveryMs = 2000

/** A client may wait for the end of the waiter that tells it. */
const reportMs = 1000

/** Nothing this early was waited for: the agent is not there yet, or the server is about to stop. */
const earlyMs = 1000

export interface Pointer {
  readonly text: string
}

/** Whether the client has the pointer. `returned`: not now, and another route may tell it; `gone`: nobody reads any more. */
export type Outcome = 'told' | 'returned' | 'gone'

/** The part of a hook's payload that the server may need: the session, its folder, and the event, which may be the end of a turn. */
export interface SessionPayload {
  readonly session_id?: string
  readonly cwd?: string
  readonly hook_event_name?: string | undefined
}

interface Waiter {
  readonly calling: WakerCalling
  readonly client: string
  readonly session: string
  readonly payload: SessionPayload
  /** By the monotonic clock. */
  readonly until: number
  readonly follow: boolean
  lives(): boolean
  tell(pointer: Pointer): Promise<Outcome>
  /** When it is worth trying again, after a pointer was returned. */
  ready?(): Promise<unknown>
  note(says: string): Promise<boolean>
}

export async function untilMail(waiter: Waiter): Promise<Ended> {
  const clock = systemClock
  const backoff = new Backoff(createIds(clock), { firstMs: 200, longestMs: 10_000 })
  const refusals = new Backoff(createIds(clock), { firstMs: 1000, longestMs: 60_000 })
  const since = clock.now()
  let noted = false
  let { payload } = waiter
  for (;;) {
    const began = clock.monotonic()
    const seconds = Math.min(Math.max(waiter.until - began, 0) / 1000, askSeconds)
    const found = await question({ ...waiter, payload }, { seconds, since })
    // The event has happened once.
    if (found !== 'away') payload = { ...payload, hook_event_name: undefined }
    if (found === 'displaced') return found
    if (typeof found === 'object') {
      const outcome = await told(waiter, found)
      if (outcome === 'gone') return 'gone'
      if (outcome === 'told' && !waiter.follow) return 'mail'
      if (outcome === 'told') refusals.reset()
      else {
        await waiter.ready?.()
        await pause(refusals.next())
      }
    }
    const now = clock.monotonic()
    if (now >= waiter.until) return 'over'
    if (found === 'unknown' && !noted) {
      noted = true
      const who = waiter.calling.named.agent ?? 'of this session'
      await waiter.note(`The server knows no agent ${who} there yet. Waiting until it does.`)
    }
    if (typeof found === 'object' || (found === 'nothing' && now - began >= earlyMs)) backoff.reset()
    else await pause(Math.min(backoff.next(), waiter.until - now))
  }
}

/** Tells the client, and the server what became of it: unheard of, the mail is announced again, three times at most. */
async function told(waiter: Waiter, pointer: Pointer): Promise<Outcome> {
  const { server, headers, named } = waiter.calling
  const { client, session, payload } = waiter
  let outcome: Outcome = 'gone'
  try {
    if (waiter.lives()) outcome = await waiter.tell(pointer)
    return outcome
  } finally {
    const query = new URLSearchParams({ ...named, client, ...(session !== '' && { session }) })
    const asking = { headers, body: payload, patienceMs: reportMs }
    await ask(`${server}/hooks/${outcome === 'told' ? 'told' : 'returned'}?${query}`, asking).catch(() => undefined)
  }
}

/** `nothing`: the time is over; `away`: to be tried again; `unknown`: the agent may register yet. */
async function question(
  { calling: { server, headers, named }, client, session, payload }: Waiter,
  { seconds, since }: { seconds: number; since: number },
): Promise<Pointer | 'nothing' | 'displaced' | 'away' | 'unknown'> {
  const numbers = { seconds: String(seconds), since: String(since) }
  const query = new URLSearchParams({ ...named, client, ...numbers, ...(session !== '' && { session }) })
  const asking = { headers, body: payload, patienceMs: seconds * 1000 + lateMs }
  const answer = await ask(`${server}/hooks/wait?${query}`, asking).catch(awayBy(server))
  if (answer === 'away') return answer
  const { status, text } = answer
  if (status === 204) return 'nothing'
  if (status === 429 || status >= 500) return 'away'
  const json = parsedJson(text) as
    | { text?: unknown; displaced?: unknown; error?: { code?: unknown } }
    | null
    | undefined
  if (status === 409 && json?.displaced === true) return 'displaced'
  if (status === 200 && typeof json?.text === 'string') return json as Pointer
  if (json?.error?.code === 'AGENT_NOT_FOUND' || json?.error?.code === 'PROJECT_NOT_FOUND') return 'unknown'
  throw refusal(server, status, json)
}

/** A certificate that is not trusted, or a server of another kind, will be no other after a pause. */
const awayBy =
  (server: string) =>
  (error: unknown): 'away' => {
    if (!(error instanceof Lost)) throw error
    if (error.kind !== 'refused' || error.message === 'ABORT_ERR') return 'away'
    throw new HubError('SERVER_UNAVAILABLE', `The server at ${server} cannot be used (${error.message}).`, {
      hint: 'Check --server (PARLEY_SERVER).',
    })
  }

/** `gone` resolves once the process is no more, or `still` says that nobody needs it; never without either. */
export function watch(
  pid: number | undefined,
  still: () => boolean = () => true,
): { lives: () => boolean; gone: Promise<'gone'> } {
  const name = pid === undefined ? undefined : processOf(pid)
  const lives = () => still() && (name === undefined || isRunning(name) !== false)
  const gone = new Promise<'gone'>((resolve) => {
    const look = () => {
      if (!lives()) resolve('gone')
    }
    look()
    every(lookEveryMs, look)
  })
  return { lives, gone }
}

export function numberOf(options: Asked['options'], name: 'pid' | 'timeout'): number | undefined {
  const given = options[name]
  if (given === undefined) return undefined
  const value = Number(given)
  const right = name === 'pid' ? Number.isInteger(value) && value > 0 : value >= 0 && Number.isFinite(value)
  if (!right || String(given).trim() === '')
    throw new HubError(
      'INVALID_ARGUMENT',
      `--${name} must be a number${name === 'pid' ? ' of a process' : ' of seconds'}.`,
    )
  return value
}
