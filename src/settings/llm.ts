/** Settings of the language model that refines summaries. */
import { flag, number, oneOf, optional, redisUrl, setting, text } from './kinds.ts'

export const llmSettings = {
  LLM_ENABLED: setting({
    default: 'true',
    says: 'Whether a language model refines summaries; needs LLM_BASE_URL.',
    parse: flag,
  }),
  LLM_BASE_URL: setting({
    default: '',
    says: 'Base URL of a language model endpoint that speaks the OpenAI API, such as `https://api.openai.com/v1`. Empty means that no model is asked.',
    parse: (raw) => {
      if (raw !== '' && !/^https?:\/\/[^\s@]+$/.test(raw))
        throw new Error('must be an http or https URL without a user')
      return optional(raw.replace(/\/+$/, ''))
    },
  }),
  LLM_API_KEY: setting({
    default: '',
    says: 'API key sent to the endpoint at LLM_BASE_URL.',
    secret: true,
    parse: optional,
  }),
  LLM_DEFAULT_MODEL: setting({
    default: 'gpt-5-mini',
    says: 'Language model asked for a summary when the caller names none.',
    parse: text,
  }),
  LLM_TEMPERATURE: setting({
    default: '0.2',
    says: 'Sampling temperature sent to the language model, from 0 to 2; lower values give steadier summaries.',
    parse: number({ min: 0, max: 2, whole: false }),
  }),
  LLM_MAX_TOKENS: setting({
    default: '512',
    says: 'Most tokens that the language model may answer with.',
    parse: number({ min: 1, max: 1_000_000 }),
  }),
  LLM_CACHE_ENABLED: setting({
    default: 'true',
    says: 'Whether answers of the language model are kept, so that a repeated question is not asked again.',
    parse: flag,
  }),
  LLM_CACHE_BACKEND: setting({
    default: 'memory',
    says: 'Where answers of the language model are kept: `memory` for each process alone, or `redis` for all processes together, which needs LLM_CACHE_REDIS_URL.',
    parse: oneOf('memory', 'redis'),
  }),
  LLM_CACHE_REDIS_URL: setting({
    default: '',
    says: 'Redis server that keeps the answers of the language model where LLM_CACHE_BACKEND is redis: `redis://user:password@host:port/database`, or `rediss://…` over TLS; `redis+cluster://host:port,host:port` for a Cluster, `redis+sentinel://host:port,host:port/master` for a master that Sentinels know.',
    secret: true,
    parse: redisUrl,
  }),
  LLM_COST_LOGGING_ENABLED: setting({
    default: 'true',
    says: 'Whether the number of tokens of each language model answer is logged.',
    parse: flag,
  }),
} as const
