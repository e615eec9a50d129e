/** `parley attach`: the waiter of clients that have none of their own. It pushes pointers made by Parley, and no text of a sender. */
import { spawn } from 'node:child_process'
import { HubError } from '../base/errors.ts'
import { clientProcess } from './attach-client.ts'
import { placeFor } from './attach-place.ts'
import { type Push, pushFor } from './attach-push.ts'
import { answerTo } from './hook.ts'
import { numberOf, type Pointer, type SessionPayload, untilMail, watch } from './waiting.ts'
import { type Around, type Asked, written } from './waker.ts'
import { hasOwnEnv, type WakerCalling, wakerCalling } from './waker-calling.ts'
import { readInput, sessionIn } from './waker-input.ts'

/** A client writes its payload at once, and waits for the answer. */
const inputMs = 1000
const answerMs = 900

interface Attaching {
  readonly client: string
  readonly session: string
  readonly payload: SessionPayload
  readonly pid: number | undefined
  readonly calling: WakerCalling
}

export async function attach(asked: Asked, around: Around): Promise<number> {
  const { options, words } = asked
  const [client = ''] = words
  const stays = options.stay === true || client === 'openclaw' || around.stdin.isTTY === true
  const input = stays ? '' : await readInput(around.stdin, inputMs)
  const payload = sessionIn(input)
  const session = typeof options.session === 'string' ? options.session : (payload.session_id ?? '')
  const calling = wakerCalling(asked, around.env, { bySession: session !== '', ownEnv: hasOwnEnv(client) })
  const pid = numberOf(options, 'pid') ?? (client === 'openclaw' ? undefined : clientProcess())
  const attaching = { client, session, payload, pid, calling }
  const push = pushFor(client, { session, pid, env: around.env })
  if (stays) {
    if (push === undefined) throw noWay(client)
    return stay(attaching, push, around.env)
  }
  if (push !== undefined) inBackground(attaching, options)
  const answer = answerTo([client, 'SessionStart'], calling, { input, leftMs: answerMs })
  await written(around.stdout, `${(await answer.catch(() => undefined)) ?? '{}'}\n`)
  return 0
}

const noWay = (client: string): HubError =>
  new HubError('INVALID_ARGUMENT', `There is no way to wake ${client} from here.`, {
    hint: 'Run it in tmux (TMUX_PANE). For OpenClaw set OPENCLAW_GATEWAY_URL and OPENCLAW_HOOKS_TOKEN.',
  })

/** The same command, without a terminal and without the streams of the hook: a client waits until they are closed. */
function inBackground({ client, session, payload, pid }: Attaching, options: Asked['options']): void {
  const kept = ['agent', 'project', 'server'].flatMap((name) =>
    typeof options[name] === 'string' ? [`--${name}`, options[name]] : [],
  )
  const own = ['attach', client, '--stay', '--session', session, ...(pid === undefined ? [] : ['--pid', String(pid)])]
  const child = spawn(process.execPath, [process.argv[1] ?? '', ...own, ...kept], {
    cwd: payload.cwd,
    detached: true,
    stdio: 'ignore',
  })
  // A folder that is gone: the client works on without a waiter.
  child.on('error', () => {})
  child.unref()
}

/** Until the client is gone, or a newer waiter of it has come. */
async function stay({ client, session, pid, calling }: Attaching, push: Push, env: Around['env']): Promise<number> {
  const place = placeFor(env, { client, pid, session })
  const watched = watch(pid, place.isOurs)
  try {
    const waiter = {
      ...{ calling, client, session, payload: { cwd: process.cwd() }, lives: watched.lives },
      until: Number.POSITIVE_INFINITY,
      follow: true,
      tell: (pointer: Pointer) => push.tell(harmless(pointer.text), watched.lives),
      ready: async () => push.ready?.(watched.lives),
      note: async () => true,
    }
    await Promise.race([untilMail(waiter), watched.gone])
    return 0
  } finally {
    place.leave()
  }
}

/** It is typed into a terminal: no character of it may be a key. */
export const harmless = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim()
