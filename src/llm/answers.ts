/** The answers that are remembered: in this process, or in a Redis that several processes share. */
import type { Log } from '../base/log.ts'
import type { Redis } from '../base/redis.ts'

export interface Answers {
  /** Never rejects: an answer that cannot be recalled is asked for again. */
  recall(key: string): Promise<string | undefined>
  /** Does not wait until it is kept. */
  keep(key: string, text: string): void
  close(): void
}

/** The answers that are remembered, and the characters of the longest among them. */
const mostAnswers = 200
const longestAnswer = 20_000

export function inMemory(): Answers {
  const answers = new Map<string, string>()
  return {
    async recall(key) {
      const text = answers.get(key)
      if (text === undefined) return undefined
      answers.delete(key)
      answers.set(key, text)
      return text
    },
    keep(key, text) {
      if (text.length > longestAnswer) return
      const [oldest] = answers.keys()
      if (answers.size >= mostAnswers && oldest !== undefined) answers.delete(oldest)
      answers.set(key, text)
    },
    close: () => answers.clear(),
  }
}

export const forgetful: Answers = { recall: async () => undefined, keep: () => {}, close: () => {} }

/** Nobody asks the same about a thread that has gone on: after a week an answer only takes room. */
const keptMs = 7 * 24 * 3600 * 1000

/** While Redis is away the process remembers by itself (mail.llm.redis-away): one warning, and a word when it is back. */
export function inRedis(redis: Redis, log: Log): Answers {
  const memory = inMemory()
  let away = false
  const works = () => {
    if (away) log.info('Redis is back')
    away = false
  }
  const fails = (error: unknown) => {
    if (!away) log.warn({ reason: String(error) }, 'Redis is away: answers of the language model are kept in memory')
    away = true
  }
  const place = (key: string) => `parley:llm:${key}`
  return {
    async recall(key) {
      try {
        const text = await redis.send('GET', place(key))
        works()
        if (typeof text === 'string') return text
      } catch (error) {
        fails(error)
      }
      return memory.recall(key)
    },
    keep(key, text) {
      if (text.length > longestAnswer) return
      memory.keep(key, text)
      redis.send('SET', place(key), text, 'PX', keptMs).then(works, fails)
    },
    close() {
      redis.close()
      memory.close()
    },
  }
}
