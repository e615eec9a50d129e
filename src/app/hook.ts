/** `parley hook`: the hooks door through a process. Whatever fails, the client is answered `{}` and works on. */
import { pause, systemClock } from '../base/clock.ts'
import { parsedJson } from '../base/json.ts'
import { ask } from './asking.ts'
import { type Around, type Asked, written } from './waker.ts'
import { hasOwnEnv, type WakerCalling, wakerCalling } from './waker-calling.ts'
import { readInput } from './waker-input.ts'

/** Since the process began: a client's turn waits for all of it. */
const mostMs = 900

export async function hook(asked: Asked, { env, stdin, stdout }: Around): Promise<number> {
  const calling = wakerCalling(asked, env, { bySession: true, ownEnv: hasOwnEnv(asked.words[0]) })
  const leftMs = Math.max(mostMs - systemClock.monotonic(), 0)
  const late = pause(leftMs).then(() => undefined)
  const answering = async () => answerTo(asked.words, calling, { input: await readInput(stdin, leftMs), leftMs })
  const answer = await Promise.race([answering().catch(() => undefined), late])
  await written(stdout, `${answer ?? '{}'}\n`)
  return 0
}

/** The answer of the hooks door to a payload, for `client` and `event`; undefined where it has none that a client could take. */
export async function answerTo(
  words: readonly string[],
  { server, headers, named }: WakerCalling,
  { input, leftMs }: { readonly input: string; readonly leftMs: number },
): Promise<string | undefined> {
  const body = input.trim() === '' ? {} : parsedJson(input)
  if (typeof body !== 'object' || body === null) return undefined
  const path = words.map(encodeURIComponent).join('/')
  const url = `${server}/hooks/${path}?${new URLSearchParams(named)}`
  const { status, text } = await ask(url, { headers, body, patienceMs: leftMs })
  // A proxy in between answers with pages of its own.
  return status === 200 && typeof parsedJson(text) === 'object' ? text : undefined
}
