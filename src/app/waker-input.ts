/** The payload that a client writes to the stdin of its hook. */
import { pause } from '../base/clock.ts'
import type { Around } from './waker.ts'

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
