/** One question to an OpenAI-compatible endpoint: its request, its answer, and when it is asked again. */
import { z } from 'zod'
import type { Clock } from '../base/clock.ts'
import { parsedJson } from '../base/json.ts'

/** Why there is no answer. The message ends the sentence "The language model …" and names no secret. */
export class LlmFailure extends Error {
  override readonly name = 'LlmFailure'
}

export interface Endpoint {
  readonly url: string
  readonly apiKey: string | undefined
  readonly clock: Clock
  /** The parameters that models have refused, by the name of the model. */
  readonly quirks: Map<string, ReadonlySet<Quirk>>
}

export interface Question {
  readonly system: string
  readonly prompt: string
  readonly model: string
  readonly temperature: number
  readonly maxTokens: number
}

export interface Answer {
  readonly text: string
  /** Tokens, as far as the endpoint tells. */
  readonly sent: number
  readonly received: number
}

/** Newer models want `max_completion_tokens` instead, and no temperature of ours. */
const quirks = ['max_tokens', 'temperature'] as const
type Quirk = (typeof quirks)[number]

const mostBytes = 256 * 1024
const mostModels = 100
const pauseMs = 500

const tokens = z.int().min(0).catch(0)

const completion = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string().min(1) }) })).min(1),
  usage: z.object({ prompt_tokens: tokens, completion_tokens: tokens }).nullish().catch(undefined),
})

const complaint = z.object({ error: z.object({ param: z.string() }) })

export async function request(
  endpoint: Endpoint,
  question: Question,
  { ended, deadline }: { ended: AbortSignal; deadline: number },
): Promise<Answer> {
  const { clock } = endpoint
  for (let retried = false; ; ) {
    const { status, text, retryAfter } = await exchange(endpoint, question, ended)
    if (status === 200) return parse(text)
    if (status === 400 && adapt(endpoint, question.model, text)) continue
    const waitMs = retryAfter === null ? pauseMs : waitFor(retryAfter, clock.now())
    const pointless = status !== 429 && status < 500
    if (pointless || retried || clock.monotonic() + waitMs >= deadline)
      throw new LlmFailure(`answered with status ${status}`)
    await pause(clock, waitMs, ended)
    retried = true
  }
}

/** The text of a failed request may hold headers, and with them the key: only its code is passed on. */
async function exchange({ url, apiKey, quirks }: Endpoint, question: Question, ended: AbortSignal) {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (apiKey !== undefined) headers.authorization = `Bearer ${apiKey}`
  try {
    const body = JSON.stringify(toBody(question, quirks.get(question.model)))
    const response = await fetch(url, { method: 'POST', headers, body, signal: ended, redirect: 'error' })
    return { status: response.status, text: await read(response), retryAfter: response.headers.get('retry-after') }
  } catch (error) {
    if (error instanceof LlmFailure) throw error
    const { code } = ((error as Error).cause ?? {}) as { code?: unknown }
    throw new LlmFailure(`could not be reached${typeof code === 'string' ? ` (${code})` : ''}`)
  }
}

const toBody = ({ system, prompt, model, temperature, maxTokens }: Question, lacks?: ReadonlySet<Quirk>) => ({
  model,
  messages: [
    { role: 'system', content: system },
    { role: 'user', content: prompt },
  ],
  [lacks?.has('max_tokens') ? 'max_completion_tokens' : 'max_tokens']: maxTokens,
  ...(!lacks?.has('temperature') && { temperature }),
})

async function read(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.byteLength
    if (size > mostBytes) throw new LlmFailure(`answered with more than ${mostBytes / 1024} KiB`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function parse(text: string): Answer {
  const { data } = completion.safeParse(parsedJson(text))
  const content = data?.choices[0]?.message.content
  if (content === undefined) throw new LlmFailure('answered with something that is no completion')
  return { text: content, sent: data?.usage?.prompt_tokens ?? 0, received: data?.usage?.completion_tokens ?? 0 }
}

/** Whether the model refused a parameter that it can be asked without; each is given up once. */
function adapt({ quirks: known }: Endpoint, model: string, text: string): boolean {
  const param = complaint.safeParse(parsedJson(text)).data?.error.param
  const refused = quirks.find((quirk) => quirk === param)
  const before = known.get(model)
  if (refused === undefined || before?.has(refused)) return false
  if (known.size >= mostModels) known.clear()
  known.set(model, new Set(before).add(refused))
  return true
}

/** Seconds or a date. A value that is neither is ignored. */
function waitFor(retryAfter: string, now: number): number {
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000
  const date = Date.parse(retryAfter)
  return Number.isNaN(date) ? pauseMs : Math.max(0, date - now)
}

function pause(clock: Clock, ms: number, ended: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const stop = () => {
    cancel()
    reject(new LlmFailure('was not waited for'))
  }
  const cancel = clock.after(ms, () => {
    ended.removeEventListener('abort', stop)
    resolve()
  })
  ended.addEventListener('abort', stop, { once: true })
  return promise
}
