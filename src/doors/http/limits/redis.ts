/** The same buckets in Redis, for all processes together; while Redis is away, each process counts for itself. */
import { hash as hashOf } from 'node:crypto'
import type { Log } from '../../../base/log.ts'
import type { Redis } from '../../../redis/redis.ts'
import { type Limiter, perMs, type Rates } from './limiter.ts'

/** One script is one step: two nodes cannot spend the same token. The clock is that of Redis, which they share. */
const script = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local rate, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local kept = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local passed = math.max(0, now - (tonumber(kept[2]) or now))
local tokens = math.min(burst, (tonumber(kept[1]) or burst) + passed * rate)
local wait = 0
if tokens >= 1 then tokens = tokens - 1 else wait = math.ceil((1 - tokens) / rate) end
redis.call('HSET', KEYS[1], 'tokens', string.format('%.6f', tokens), 'at', string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil(burst / rate))
return wait`

const hash = hashOf('sha1', script)

export function inRedis(redis: Redis, rates: Rates, { fallback, log }: { fallback: Limiter; log: Log }): Limiter {
  let away = false

  const run = (args: (string | number)[]) =>
    redis.send('EVALSHA', hash, ...args).catch((error: Error) => {
      // It keeps no scripts over a restart.
      if (!error.message.includes('NOSCRIPT')) throw error
      return redis.send('EVAL', script, ...args)
    })

  return {
    async take(who, of) {
      const rate = rates[of]
      if (rate.perMinute === 0) return 0
      try {
        // A caller may have chosen its name, and Redis is for others too: the name is not shown there.
        const key = `parley:limit:${of}:${hashOf('sha256', who, 'base64url')}`
        const wait = await run([1, key, perMs(rate), rate.burst])
        if (away) log.info('Redis is back: limits are counted there again')
        away = false
        return Number(wait)
      } catch (error) {
        if (!away) log.warn({ reason: (error as Error).message }, 'Redis is away: this process counts limits alone')
        away = true
        return fallback.take(who, of)
      }
    },
    close: () => redis.close(),
  }
}
