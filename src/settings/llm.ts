/** Settings of the language model that refines summaries. */
import { flag, number, optional, setting, text } from './kinds.ts'

export const llmSettings = {
  LLM_ENABLED: setting({
    default: 'true',
    says: 'Whether summaries are refined by a language model. Without LLM_BASE_URL it does nothing.',
    parse: flag,
  }),
  LLM_BASE_URL: setting({
    default: '',
    says: 'An endpoint that speaks the OpenAI API, such as `https://api.openai.com/v1`.',
    parse: (raw) => {
      if (raw !== '' && !/^https?:\/\/[^\s@]+$/.test(raw))
        throw new Error('must be an http or https URL without a user')
      return optional(raw.replace(/\/+$/, ''))
    },
  }),
  LLM_API_KEY: setting({ default: '', says: 'The key for that endpoint.', secret: true, parse: optional }),
  LLM_DEFAULT_MODEL: setting({ default: 'gpt-5-mini', says: 'The model to ask.', parse: text }),
  LLM_TEMPERATURE: setting({
    default: '0.2',
    says: 'How freely it may write.',
    parse: number({ min: 0, max: 2, whole: false }),
  }),
  LLM_MAX_TOKENS: setting({
    default: '512',
    says: 'How long an answer of it may be.',
    parse: number({ min: 1, max: 1_000_000 }),
  }),
  LLM_CACHE_ENABLED: setting({
    default: 'true',
    says: 'Whether the same question is asked only once, as long as the process lives.',
    parse: flag,
  }),
  LLM_COST_LOGGING_ENABLED: setting({
    default: 'true',
    says: 'Whether the log tells how many tokens each answer took.',
    parse: flag,
  }),
} as const
