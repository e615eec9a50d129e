/** One question to a server, by node:http: `fetch` is 30 to 50 ms of the start of a command. */
import { type Code, codes, HubError } from '../base/errors.ts'
import { createWire } from '../doors/connect/wire.ts'

interface Asked {
  readonly headers: Readonly<Record<string, string>>
  /** Posted as JSON; without one it is a GET. */
  readonly body?: object | undefined
  readonly patienceMs: number
  /** Ends the question early. */
  readonly signal?: AbortSignal
  readonly anyCertificate?: boolean
}

/** Throws a Lost where there is no whole answer in time. */
export async function ask(
  url: string,
  { headers, body, patienceMs, signal: ended, anyCertificate = false }: Asked,
): Promise<{ status: number; text: string }> {
  const late = AbortSignal.timeout(Math.ceil(patienceMs))
  const signal = ended === undefined ? late : AbortSignal.any([late, ended])
  const wire = createWire(new URL(url), headers, { anyCertificate })
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

/** The error that the server tells, as if it had been thrown here. */
export function refusal(url: string, status: number, json: unknown): HubError {
  const { error } = (json ?? {}) as { error?: { code?: unknown; message?: unknown; hint?: unknown } }
  const code = typeof error?.code === 'string' && error.code in codes ? (error.code as Code) : undefined
  if (code === undefined || (code === 'NOT_FOUND' && status === 404))
    return new HubError('SERVER_UNAVAILABLE', `${url} is no Parley, or an older one: it answered with ${status}.`)
  if (code === 'UNAUTHENTICATED')
    return new HubError(code, `${url} does not take this token or key.`, {
      hint: 'A server reads its token when it starts. `parley token show` on its machine prints the one that is kept there.',
    })
  const hint = typeof error?.hint === 'string' ? { hint: error.hint } : {}
  return new HubError(code, String(error?.message), hint)
}
