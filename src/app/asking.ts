/** One question to a server, by node:http: `fetch` is 30 to 50 ms of the start of a command. */
import { createWire } from '../doors/connect/wire.ts'

interface Asked {
  readonly headers: Readonly<Record<string, string>>
  /** Posted as JSON; without one it is a GET. */
  readonly body?: object | undefined
  readonly patienceMs: number
}

/** Throws a Lost where there is no whole answer in time. */
export async function ask(
  url: string,
  { headers, body, patienceMs }: Asked,
): Promise<{ status: number; text: string }> {
  const signal = AbortSignal.timeout(patienceMs)
  const wire = createWire(new URL(url), headers)
  const accept = { accept: 'application/json' }
  const answer = await wire(
    body === undefined
      ? { method: 'GET', headers: accept, signal }
      : {
          method: 'POST',
          headers: { ...accept, 'content-type': 'application/json' },
          body: JSON.stringify(body),
          signal,
        },
  )
  let whole = ''
  for await (const { text } of answer.messages()) whole += text
  return { status: answer.status, text: whole }
}
