/** Settings of the language model that refines summaries. */
import { flag, number, oneOf, optional, parsed, redisUrl, text } from './kinds.ts'

function baseUrl(raw: string): string | undefined {
  if (raw === '') return undefined
  if (!/^https?:\/\/[^\s@]+$/.test(raw)) throw new Error('must be an http or https URL without a user')
  return raw.replace(/\/+$/, '')
}

export const llmSettings = {
  LLM_ENABLED: flag(true).says('Whether a language model refines summaries; needs LLM_BASE_URL.'),
  LLM_BASE_URL: parsed('', baseUrl).says(
    'Base URL of a language model endpoint that speaks the OpenAI API, such as `https://api.openai.com/v1`. Empty means that no model is asked.',
  ),
  LLM_API_KEY: optional().secret('API key sent to the endpoint at LLM_BASE_URL.'),
  LLM_DEFAULT_MODEL: text('gpt-5-mini').says('Language model asked for a summary when the caller names none.'),
  LLM_TEMPERATURE: number(0.2, { min: 0, max: 2, whole: false }).says(
    'Sampling temperature sent to the language model, from 0 to 2; lower values give steadier summaries.',
  ),
  LLM_MAX_TOKENS: number(512, { min: 1, max: 1_000_000 }).says('Most tokens that the language model may answer with.'),
  LLM_CACHE_ENABLED: flag(true).says(
    'Whether answers of the language model are kept, so that a repeated question is not asked again.',
  ),
  LLM_CACHE_BACKEND: oneOf(['memory', 'redis'], 'memory').says(
    'Where answers of the language model are kept: `memory` for each process alone, or `redis` for all processes together, which needs LLM_CACHE_REDIS_URL.',
  ),
  LLM_CACHE_REDIS_URL: redisUrl().secret(
    'Redis server that keeps the answers of the language model where LLM_CACHE_BACKEND is redis: `redis://user:password@host:port/database`, or `rediss://…` over TLS; `redis+cluster://host:port,host:port` for a Cluster, `redis+sentinel://host:port,host:port/master` for a master that Sentinels know.',
  ),
  LLM_COST_LOGGING_ENABLED: flag(true).says('Whether the number of tokens of each language model answer is logged.'),
}
