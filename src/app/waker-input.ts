/** The payload that a client writes to the stdin of its hook. */
import { pause } from '../base/clock.ts'
import { parsedJson } from '../base/json.ts'
import type { SessionPayload } from './waiting.ts'
import type { Around } from './waker.ts'

/** A client writes its payload at once. */
const inputMs = 1000

/** All of it, or as much as came in time: some clients leave stdin open. A terminal has none. */
export async function readInput(stdin: Around['stdin'], mostMs: number): Promise<string> {
  if (stdin.isTTY) return ''
  let whole = ''
  const ended = new AbortController()
  stdin.setEncoding('utf8')
  stdin.on('data', (text: string) => {
    whole += text
  })
  for (const event of ['end', 'error', 'close']) stdin.once(event, () => ended.abort())
  await pause(mostMs, ended.signal)
  // Else it keeps the process alive.
  stdin.destroy()
  return whole
}

export const readPayload = async (stdin: Around['stdin']): Promise<SessionPayload> =>
  sessionIn(await readInput(stdin, inputMs))

/** The session, the folder and the event of a payload, if they are there. */
export function sessionIn(input: string): SessionPayload {
  const { session_id: session, cwd, hook_event_name: event } = (parsedJson(input) ?? {}) as Record<string, unknown>
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
  return {
    ...(isText(session) && { session_id: session }),
    ...(isText(cwd) && { cwd }),
    ...(isText(event) && { hook_event_name: event }),
  }
}
