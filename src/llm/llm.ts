/** A language model behind an OpenAI-compatible endpoint: bounded in time and size, and never needed. */
import { createHash } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Answers } from './answers.ts'
import { type Answer, type Endpoint, LlmFailure, type Question, request } from './wire.ts'

export { LlmFailure } from './wire.ts'

export interface LlmOptions {
  /** Such as `https://api.openai.com/v1`; `/chat/completions` is added. */
  readonly baseUrl: string
  /** Some endpoints want none. */
  readonly apiKey?: string | undefined
  /** Unless the caller names another. */
  readonly model: string
  readonly temperature: number
  readonly maxTokens: number
  readonly logCost: boolean
  /** For one question in all, retries included. */
  readonly timeoutMs?: number | undefined
}

export interface Asking {
  readonly system: string
  readonly prompt: string
  /** Drawn at random for this prompt: a remembered answer to the same prompt with another one is taken. */
  readonly boundary?: string | undefined
  readonly model?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Whether the answer is what was asked for. One that cannot be used is not remembered: the next may be better. */
  readonly usable?: (text: string) => boolean
}

export interface Llm {
  /** The answer as text. Rejects with an LlmFailure, whose message says in a few words why and holds no secret. */
  complete(asking: Asking): Promise<string>
  close(): void
}

/** Names as the makers of models write them: `gpt-5-mini`, `openai/gpt-5`, `llama3.1:8b`, `@cf/meta/llama`. */
export const modelPattern = /^[A-Za-z0-9@][A-Za-z0-9@._:/+-]{0,99}$/

const usualTimeoutMs = 20_000

interface LlmParts {
  readonly log: Log
  readonly clock: Clock
  readonly answers: Answers
}

export function createLlm(options: LlmOptions, { log, clock, answers }: LlmParts): Llm {
  const { model: usual, temperature, maxTokens, timeoutMs = usualTimeoutMs } = options
  const endpoint: Endpoint = {
    url: `${options.baseUrl.replace(/\/+$/, '')}/chat/completions`,
    apiKey: options.apiKey,
    clock,
    quirks: new Map(),
  }

  async function ask(question: Question, signal: AbortSignal | undefined): Promise<Answer> {
    const late = new AbortController()
    const cancel = clock.after(timeoutMs, () => late.abort())
    const ended = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal])
    try {
      return await request(endpoint, question, { ended, deadline: clock.monotonic() + timeoutMs })
    } catch (error) {
      if (late.signal.aborted) throw new LlmFailure(`gave no answer within ${timeoutMs / 1000} s`)
      if (signal?.aborted) throw new LlmFailure('was not waited for')
      throw error
    } finally {
      cancel()
    }
  }

  return {
    async complete({ system, prompt, boundary = '', model = usual, signal, usable = () => true }) {
      const question = { system, prompt, model, temperature, maxTokens }
      const asked = boundary === '' ? question : { ...question, prompt: prompt.replaceAll(boundary, '') }
      const key = createHash('sha256').update(JSON.stringify(asked)).digest('base64')
      const began = clock.monotonic()
      const known = await answers.recall(key)
      const answer = known === undefined ? await ask(question, signal) : { text: known, sent: 0, received: 0 }
      if (known === undefined && usable(answer.text)) answers.keep(key, answer.text)
      if (options.logCost) {
        const { sent, received } = answer
        log.info(
          {
            model,
            prompt_tokens: sent,
            completion_tokens: received,
            total_tokens: sent + received,
            ms: Math.round(clock.monotonic() - began),
            cached: known !== undefined,
          },
          'a language model was asked',
        )
      }
      return answer.text
    },
    close: () => answers.close(),
  }
}
