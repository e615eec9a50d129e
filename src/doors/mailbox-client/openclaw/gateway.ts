/** The gateway of OpenClaw: hands a message to a session of its agent, or asks the agent and waits for its answer. */
import { z } from 'zod'
import type { Clock } from '../../../base/clock.ts'
import { echo } from '../../../base/text.ts'
import { type Fetched, request, Unreachable } from '../request.ts'

/** The gateway has not taken a message. The error's message ends the sentence "The OpenClaw gateway …" and names no secret. */
export class GatewayFailure extends Error {
  override readonly name = 'GatewayFailure'
  readonly sessionGone: boolean

  constructor(message: string, { sessionGone = false } = {}) {
    super(message)
    this.sessionGone = sessionGone
  }
}

interface Handover {
  readonly sessionKey: string
  readonly text: string
  /** Sent as the idempotency key, which today's gateway ignores. */
  readonly messageId: string
}

export interface Gateway {
  /** Resolves once the gateway has accepted the message; its agent answers by a tool, if it does. */
  hand(message: Handover): Promise<void>
  /** The answer of the agent; undefined if it has none. `end` gives it up. */
  ask(message: Handover, end: AbortSignal): Promise<string | undefined>
}

/** One turn of a model with tools may take minutes. */
const [handMs, askMs] = [30_000, 600_000]

/** Older gateways say `timeout` of an agent that is still working. */
const accepted: ReadonlySet<string> = new Set(['ok', 'accepted', 'queued', 'no_reply', 'timeout'])

/** An agent of OpenClaw answers with these to say nothing. */
const silence = /^\s*(NO_REPLY|HEARTBEAT_OK)?\s*$/

const outcome = z.object({ status: z.string(), error: z.unknown().optional() })

const invoked = z.object({
  ok: z.boolean().optional(),
  error: z.object({ message: z.string() }).optional(),
  result: z
    .object({
      details: z.unknown().optional(),
      content: z.array(z.object({ type: z.string(), text: z.string().optional() })).optional(),
    })
    .optional(),
})

const completion = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string().nullish() }) })).min(1),
})

const complaint = z.object({ error: z.object({ message: z.string() }) })

export function createGateway({ url, token, clock }: { url: string; token: string; clock: Clock }): Gateway {
  const post = async (path: string, body: object, asked: Asked = {}): Promise<Fetched> => {
    const { headers = {}, patienceMs = handMs, signal } = asked
    const parts = { body, signal, clock, patienceMs, headers: { authorization: `Bearer ${token}`, ...headers } }
    return request(`${url}${path}`, { method: 'POST', ...parts }).catch((error: unknown) => {
      throw error instanceof Unreachable ? new GatewayFailure(error.message) : error
    })
  }

  return {
    async hand({ sessionKey, text: message, messageId }) {
      // Without an outer sessionKey, and without waiting: the agent's one turn. With both it is seven.
      const args = { sessionKey, message, timeoutSeconds: 0 }
      const body = { tool: 'sessions_send', args, idempotencyKey: messageId }
      needAccepted(await post('/tools/invoke', body))
    },
    async ask({ sessionKey, text }, end) {
      const body = { model: modelOf(sessionKey), messages: [{ role: 'user', content: text }] }
      const headers = { 'x-openclaw-session-key': sessionKey }
      const fetched = await post('/v1/chat/completions', body, { headers, patienceMs: askMs, signal: end })
      if (fetched.status !== 200) throw refusal(fetched, 'gateway.http.endpoints.chatCompletions.enabled')
      const { data } = completion.safeParse(fetched.json)
      if (data === undefined) throw new GatewayFailure('answered with something that is no completion')
      const answer = data.choices[0]?.message.content ?? ''
      return silence.test(answer) ? undefined : answer
    },
  }
}

interface Asked {
  readonly headers?: Readonly<Record<string, string>>
  readonly patienceMs?: number
  readonly signal?: AbortSignal
}

/** `agent:main:main` is a session of the agent `main`. */
const modelOf = (sessionKey: string): string => `openclaw/${/^agent:([^:]+)/.exec(sessionKey)?.[1] ?? 'main'}`

/** A tool that failed is a 200 too: the status is inside (bridge.gateway.inside). */
function needAccepted(fetched: Fetched): void {
  if (fetched.status !== 200) throw refusal(fetched, 'gateway.tools.allow with "sessions_send"')
  const { data } = invoked.safeParse(fetched.json)
  if (data === undefined) throw new GatewayFailure('answered with something that is no result of a tool')
  if (data.ok === false)
    throw new GatewayFailure(`refused the message: ${echo(data.error?.message ?? 'no reason given')}`)
  const { details, content } = data.result ?? {}
  const result = outcome.safeParse(details).data ?? outcome.safeParse(parse(content?.[0]?.text)).data
  if (result === undefined) throw new GatewayFailure('did not say whether it took the message')
  if (accepted.has(result.status)) return
  const why = typeof result.error === 'string' ? `: ${echo(result.error)}` : ''
  throw new GatewayFailure(`did not take the message (${echo(result.status)}${why})`, {
    sessionGone: /no session found/i.test(why),
  })
}

function parse(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}

/** A path or tool that is not there has to be allowed in the gateway's configuration. */
function refusal({ status, json }: Fetched, setting: string): GatewayFailure {
  const said = complaint.safeParse(json).data?.error.message
  const why = `answered with status ${status}${said === undefined ? '' : `: ${echo(said)}`}`
  if (status === 401 || status === 403) return new GatewayFailure(`${why}; check OPENCLAW_GATEWAY_TOKEN`)
  return new GatewayFailure(status === 404 ? `${why}; its configuration needs ${setting}` : why)
}
