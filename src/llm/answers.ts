/** The answers that are remembered: in this process, or in a Redis that several processes share. */
import type { Log } from '../base/log.ts'
import type { Redis } from '../redis/redis.ts'

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
  /** The command that failed first. It ends the outage: a Redis that is full still answers others. */
  let failing: 'GET' | 'SET' | undefined
  const works = (command: 'GET' | 'SET') => {
    if (failing !== command) return
    failing = undefined
    log.info('Redis is back')
  }
  const fails = (command: 'GET' | 'SET', error: unknown) => {
    if (failing !== undefined) return
    failing = command
    log.warn({ reason: String(error) }, 'Redis is away: answers of the language model are kept in memory')
  }
  const place = (key: string) => `parley:llm:${key}`
  return {
    async recall(key) {
      try {
        const text = await redis.send('GET', place(key))
        works('GET')
        if (typeof text === 'string') return text
      } catch (error) {
        fails('GET', error)
      }
      return memory.recall(key)
    },
    keep(key, text) {
      if (text.length > longestAnswer) return
      memory.keep(key, text)
      redis.send('SET', place(key), text, 'PX', keptMs).then(
        () => works('SET'),
        (error: unknown) => fails('SET', error),
      )
    },
    close() {
      redis.close()
      memory.close()
    },
  }
}
