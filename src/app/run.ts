/** `parley run`: starts a command for the mail of an agent, which is on loan until the command ends. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { every, pause, systemClock } from '../base/clock.ts'
import { HubError } from '../base/errors.ts'
import { createIds } from '../base/ids.ts'
import { parsedJson } from '../base/json.ts'
import { Lost } from '../doors/connect/wire.ts'
import { Backoff } from '../doors/mailbox-client/backoff.ts'
import { ask, refusal } from './asking.ts'
import { HourlyLimit } from './hourly-limit.ts'
import type { WakerCalling } from './waker-calling.ts'

interface RunWish {
  readonly maxPerHour: number
  readonly timeoutMs: number | undefined
  readonly concurrency: number
  readonly command: readonly [program: string, ...args: string[]]
}

interface RunParts {
  readonly calling: WakerCalling
  readonly env: NodeJS.ProcessEnv
  /** Aborted: nothing is started any more, and what runs is ended. */
  readonly signal: AbortSignal
  note(says: string): Promise<void>
}

/** One question; proxies cut at 60 s. */
const askSeconds = 50

/** An answer that is this late will not come. */
const lateMs = 10_000

/** Three times in the life of a loan. */
const renewEveryMs = 20_000

/** From asking a command to end until it is killed. */
const graceMs = 5000

/** A command that fails at once is not started at once again. */
const failed = { firstMs: 1000, longestMs: 60_000 }
const away = { firstMs: 200, longestMs: 10_000 }

interface Lent {
  readonly run: string
  readonly text: string
  readonly messages: readonly { readonly id: number; readonly from: string }[]
}

/** Ends when the signal comes, after all commands have ended; throws what the server refuses. */
export async function run(wish: RunWish, parts: RunParts): Promise<void> {
  const limit = new HourlyLimit(wish.maxPerHour)
  const broken = new AbortController()
  const signal = AbortSignal.any([parts.signal, broken.signal])
  const each = Array.from({ length: wish.concurrency }, () =>
    keepRunning(wish, { ...parts, signal }, limit).catch((error: unknown) => {
      broken.abort()
      throw error
    }),
  )
  const outcomes = await Promise.allSettled(each)
  const bad = outcomes.find((outcome) => outcome.status === 'rejected')
  if (bad !== undefined) throw bad.reason
}

async function keepRunning(wish: RunWish, parts: RunParts, limit: HourlyLimit): Promise<void> {
  const { signal, note } = parts
  const ids = createIds(systemClock)
  const session = `run-${ids.short()}`
  const [whileAway, afterFailure] = [new Backoff(ids, away), new Backoff(ids, failed)]
  while (!signal.aborted) {
    const waitMs = limit.msUntilFree(systemClock.now())
    if (waitMs > 0) {
      await note(`${wish.maxPerHour} commands within an hour: the next one starts in ${Math.ceil(waitMs / 1000)} s.`)
      await pause(waitMs, signal)
      continue
    }
    const lent = await borrow(parts, session)
    if (lent === 'away') await pause(whileAway.next(), signal)
    else whileAway.reset()
    if (typeof lent !== 'object') continue
    if (signal.aborted) return settle(parts, lent.run, false)
    limit.count(systemClock.now())
    const handled = await handle(lent, wish, parts)
    if (handled) afterFailure.reset()
    else await pause(afterFailure.next(), signal)
  }
}

/** A wait that is ended by the signal leaves the mail in the mailbox: nobody has read the answer. */
async function borrow(parts: RunParts, session: string): Promise<Lent | 'away' | 'nothing'> {
  const query = { session, seconds: String(askSeconds) }
  const asked = { query, patienceMs: askSeconds * 1000 + lateMs, signal: parts.signal }
  const answer = await post(parts, '/runs', asked)
  if (answer === undefined) return 'away'
  return answer.status === 204 ? 'nothing' : (answer.json as Lent)
}

/** Whether the command ended with 0: then its mail is acknowledged, else it comes back. */
async function handle(lent: Lent, wish: RunWish, parts: RunParts): Promise<boolean> {
  const { note, env, signal } = parts
  const about = lent.messages.map(({ id }) => `#${id}`).join(', ')
  const [program, ...args] = wish.command.map((word) => word.replaceAll('{prompt}', lent.text))
  const options = { env: { ...env, PARLEY_RUN: lent.run }, detached: process.platform !== 'win32' } as const
  const child = spawn(program ?? '', args, { ...options, stdio: ['ignore', 'inherit', 'inherit'] })
  const renew = () => void post(parts, `/runs/${lent.run}/renew`).catch(() => {})
  const stopRenewing = every(renewEveryMs, renew)
  await note(`${about}: started ${program}.`)
  const how = await ended(child, { timeoutMs: wish.timeoutMs, signal })
  stopRenewing()
  const handled = how === 'ended with 0'
  await settle(parts, lent.run, handled)
  await note(`${about}: ${program} ${how}; ${handled ? 'the mail is acknowledged' : 'the mail comes back'}.`)
  return handled
}

interface Until {
  readonly timeoutMs: number | undefined
  readonly signal: AbortSignal
}

/** How it ended, in words. A command that is asked to end has not handled its mail, whatever it ends with. */
async function ended(child: ChildProcess, { timeoutMs, signal }: Until): Promise<string> {
  const gone = new AbortController()
  const end = once(child, 'close').then(
    ([code, by]: unknown[]) => (typeof code === 'number' ? `ended with ${code}` : `was ended by ${String(by)}`),
    (error: Error) => `could not be started (${error.message})`,
  )
  const timer =
    timeoutMs === undefined ? new Promise<never>(() => {}) : pause(timeoutMs, gone.signal).then(() => 'late')
  const stopped = new Promise<'stopped'>((resolve) => {
    if (signal.aborted) resolve('stopped')
    else signal.addEventListener('abort', () => resolve('stopped'), { once: true })
  })
  const first = await Promise.race([end, timer, stopped])
  if (first === 'late' || first === 'stopped') {
    kill(child, 'SIGTERM')
    await Promise.race([end, pause(graceMs, gone.signal).then(() => kill(child, 'SIGKILL'))])
    await end
  }
  gone.abort()
  if (first === 'late') return 'took too long'
  return first === 'stopped' ? 'was stopped' : await end
}

/** With all that it has started; a group of its own, so that a timeout leaves nothing behind. */
function kill({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal)
  } catch {
    // It has ended meanwhile.
  }
}

/** For as long as the loan lasts: after that the mail is back anyway. */
async function settle(parts: RunParts, run: string, handled: boolean): Promise<void> {
  const backoff = new Backoff(createIds(systemClock), away)
  for (const began = systemClock.monotonic(); systemClock.monotonic() - began < 3 * renewEveryMs; ) {
    const answer = await post(parts, `/runs/${run}/end`, { body: { handled } })
    if (answer !== undefined) return
    await pause(backoff.next())
  }
  await parts.note('The server is away: the mail comes back.')
}

interface Posted {
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object
  readonly patienceMs?: number
  readonly signal?: AbortSignal
}

/** Undefined where the server is away. Throws what it refuses for good. */
async function post(
  { calling: { server, headers, named } }: RunParts,
  path: string,
  { query = {}, body = {}, patienceMs = lateMs, signal }: Posted = {},
): Promise<{ readonly status: number; readonly json: unknown } | undefined> {
  const url = `${server}${path}?${new URLSearchParams({ ...named, ...query })}`
  try {
    const { status, text } = await ask(url, { headers, body, patienceMs, ...(signal && { signal }) })
    if (status === 429 || status >= 500) return undefined
    const json = parsedJson(text)
    if (status !== 200 && status !== 204) throw refusal(server, status, json)
    return { status, json }
  } catch (error) {
    if (!(error instanceof Lost)) throw error
    if (error.kind !== 'refused' || error.message === 'ABORT_ERR') return undefined
    throw new HubError('SERVER_UNAVAILABLE', `The server at ${server} cannot be used (${error.message}).`, {
      hint: 'Check --server (PARLEY_SERVER).',
    })
  }
}
