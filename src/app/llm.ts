/** The language model of the settings, and where its answers are kept. */
import { systemClock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { type Answers, forgetful, inMemory, inRedis } from '../llm/answers.ts'
import type { Llm } from '../llm/llm.ts'
import type { Config } from '../settings/all.ts'

/** None without an endpoint: summaries are then drawn from the messages alone, and nothing of it is loaded. */
export async function llmOf(config: Config, log: Log): Promise<Llm | undefined> {
  if (!config.LLM_ENABLED || config.LLM_BASE_URL === undefined) return undefined
  const { createLlm } = await import('../llm/llm.ts')
  return createLlm(
    {
      baseUrl: config.LLM_BASE_URL,
      apiKey: config.LLM_API_KEY,
      model: config.LLM_DEFAULT_MODEL,
      temperature: config.LLM_TEMPERATURE,
      maxTokens: config.LLM_MAX_TOKENS,
      logCost: config.LLM_COST_LOGGING_ENABLED,
    },
    { log, clock: systemClock, answers: await answersOf(config, log) },
  )
}

/** The client of Redis is loaded only where it is asked for. */
async function answersOf(config: Config, log: Log): Promise<Answers> {
  const { LLM_CACHE_ENABLED, LLM_CACHE_BACKEND, LLM_CACHE_REDIS_URL } = config
  if (!LLM_CACHE_ENABLED) return forgetful
  if (LLM_CACHE_BACKEND === 'memory' || LLM_CACHE_REDIS_URL === undefined) return inMemory()
  const { openRedis } = await import('../redis/redis.ts')
  return inRedis(openRedis(LLM_CACHE_REDIS_URL), log)
}
