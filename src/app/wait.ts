/** `parley wait`: asks the hooks door until there is mail, time is over, or nobody needs it any more. */
import { every, pause, systemClock } from '../base/clock.ts'
import { HubError } from '../base/errors.ts'
import { createIds } from '../base/ids.ts'
import { isRunning, processOf } from '../base/processes.ts'
import { Lost } from '../doors/connect/wire.ts'
import { Backoff } from '../doors/mailbox-client/backoff.ts'
import { ask, parsed, refusal } from './asking.ts'
import { type Around, type Asked, written } from './waker.ts'
import { callingOf, type WakerCalling } from './waker-calling.ts'
import { readInput } from './waker-input.ts'

type Ended = 'mail' | 'over' | 'displaced' | 'gone'

/** Claude Code begins a turn for 2. Each Stop displaces the waiter before it, which is no failure: 0 says so. */
const exitCodes = {
  plain: { mail: 0, over: 3, displaced: 4, gone: 1 },
  claude: { mail: 2, over: 0, displaced: 0, gone: 0 },
} as const satisfies Record<string, Record<Ended, number>>

/** One question; proxies cut at 60 s. The server may answer earlier (MAX_WAIT_SECONDS). */
const askSeconds = 50

/** An answer that is this late will not come: the machine slept, or the connection is gone. */
const lateMs = 10_000

/** The client may be killed without a word. */
const lookEveryMs = 2000

/** Nothing this early was waited for: the agent is not there yet, or the server is about to stop. */
const earlyMs = 1000

/** A client writes its payload at once. */
const inputMs = 1000

export async function wait(asked: Asked, around: Around): Promise<number> {
  const { options } = asked
  const { env, stdout, stderr } = around
  const forClaude = isForClaude(options)
  // Without a window Claude Code waits for its hooks before it sends the prompt, and would wait forever.
  if (forClaude && (env.CLAUDE_CODE_ENTRYPOINT || 'cli') !== 'cli') return 0
  const calling = callingOf(asked, env)
  const pid = numberOf(options, 'pid') ?? (forClaude ? Number(env.CLAUDE_PID) || undefined : undefined)
  const seconds = numberOf(options, 'timeout')
  const client = watch(pid)
  const waiter = {
    calling,
    client: forClaude ? 'claude' : 'wait',
    session: await sessionOf(asked, around, forClaude),
    until: seconds === undefined ? Number.POSITIVE_INFINITY : systemClock.monotonic() + seconds * 1000,
    follow: options.follow === true,
    lives: client.lives,
    tell: (pointer: Pointer) =>
      forClaude ? written(stderr, `${pointer.text}\n`) : written(stdout, `${JSON.stringify(pointer)}\n`),
    note: (says: string) => (forClaude ? Promise.resolve(true) : written(stderr, `${says}\n`)),
  }
  return exitCodes[forClaude ? 'claude' : 'plain'][await Promise.race([untilMail(waiter), client.gone])]
}

function isForClaude({ for: client, follow }: Asked['options']): boolean {
  if (client === undefined) return false
  if (client !== 'claude')
    throw new HubError('INVALID_ARGUMENT', '--for knows only claude.', { hint: 'Leave it out for lines of JSON.' })
  if (follow === true)
    throw new HubError('INVALID_ARGUMENT', '--follow and --for claude exclude each other.', {
      hint: 'Claude Code learns of mail by the end of the hook, and its Stop hook waits anew.',
    })
  return true
}

function numberOf(options: Asked['options'], name: 'pid' | 'timeout'): number | undefined {
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

/** The payload of the hook knows it best: a session that was cleared has another one. */
async function sessionOf({ options }: Asked, around: Around, forClaude: boolean): Promise<string> {
  if (typeof options.session === 'string') return options.session
  if (!forClaude) return ''
  const payload = parsed(await readInput(around.stdin, inputMs)) as { session_id?: unknown } | null | undefined
  return typeof payload?.session_id === 'string' ? payload.session_id : (around.env.CLAUDE_CODE_SESSION_ID ?? '')
}

/** `gone` resolves once the process is no more; never without one. */
function watch(pid: number | undefined): { lives: () => boolean; gone: Promise<'gone'> } {
  if (pid === undefined) return { lives: () => true, gone: new Promise(() => {}) }
  const name = processOf(pid)
  const lives = () => isRunning(name) !== false
  const gone = new Promise<'gone'>((resolve) => {
    const look = () => {
      if (!lives()) resolve('gone')
    }
    look()
    every(lookEveryMs, look)
  })
  return { lives, gone }
}

interface Pointer {
  readonly text: string
}

interface Waiter {
  readonly calling: WakerCalling
  readonly client: string
  readonly session: string
  /** By the monotonic clock. */
  readonly until: number
  readonly follow: boolean
  lives(): boolean
  /** Answers false where nobody reads any more. */
  tell(pointer: Pointer): Promise<boolean>
  note(says: string): Promise<boolean>
}

async function untilMail(waiter: Waiter): Promise<Ended> {
  const clock = systemClock
  const backoff = new Backoff(createIds(clock), { firstMs: 200, longestMs: 10_000 })
  let noted = false
  for (;;) {
    const began = clock.monotonic()
    const found = await question(waiter, Math.min(Math.max(waiter.until - began, 0) / 1000, askSeconds))
    if (found === 'displaced') return found
    if (typeof found === 'object') {
      // Not told to anybody, it is announced again by the next route.
      if (!waiter.lives() || !(await waiter.tell(found))) return 'gone'
      if (!waiter.follow) return 'mail'
    }
    const now = clock.monotonic()
    if (now >= waiter.until) return 'over'
    if (found === 'unknown' && !noted) {
      noted = true
      await waiter.note(`The server knows no agent ${waiter.calling.named.agent} there yet. Waiting until it does.`)
    }
    if (typeof found === 'object' || (found === 'nothing' && now - began >= earlyMs)) backoff.reset()
    else await pause(Math.min(backoff.next(), waiter.until - now))
  }
}

/** `nothing`: the time is over; `away`: to be tried again; `unknown`: the agent may register yet. */
async function question(
  { calling: { server, headers, named }, client, session }: Waiter,
  seconds: number,
): Promise<Pointer | 'nothing' | 'displaced' | 'away' | 'unknown'> {
  const query = new URLSearchParams({ ...named, client, seconds: String(seconds), ...(session !== '' && { session }) })
  const asking = { headers, body: {}, patienceMs: seconds * 1000 + lateMs }
  const answer = await ask(`${server}/hooks/wait?${query}`, asking).catch(awayBy(server))
  if (answer === 'away') return answer
  const { status, text } = answer
  if (status === 204) return 'nothing'
  if (status === 429 || status >= 500) return 'away'
  const json = parsed(text) as { text?: unknown; displaced?: unknown; error?: { code?: unknown } } | null | undefined
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
