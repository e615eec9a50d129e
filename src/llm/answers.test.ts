/** Answers of the model that processes share in a Redis, and what happens while it is away. */
import { randomBytes } from 'node:crypto'
import { expect, onTestFinished } from 'vitest'
import { TestClock } from '../../test/support/clock.ts'
import { readableLog } from '../../test/support/logged.ts'
import { eachRedis, startStandIn } from '../../test/support/redis.ts'
import { freePort } from '../../test/support/redis-server.ts'
import { verifies } from '../../test/support/verifies.ts'
import { openRedis, type RedisOptions } from '../redis/redis.ts'
import { inRedis } from './answers.ts'

function open(url: string, options: RedisOptions = { timeoutMs: 10_000 }) {
  const { log, lines } = readableLog()
  const answers = inRedis(openRedis(url, options), log)
  onTestFinished(() => answers.close())
  return { ...answers, lines }
}

const newKey = () => randomBytes(32).toString('base64')

eachRedis('Answers', (start) => {
  verifies('mail.llm.redis', 'that one process keeps are recalled by another, for a week', async () => {
    const { url, real } = await start()
    const [one, other] = [open(url), open(url)]
    const [key, long] = [newKey(), newKey()]
    expect(await other.recall(key)).toBeUndefined()
    one.keep(key, 'Grüße\r\nund mehr')
    one.keep(long, 'x'.repeat(20_001))
    await expect.poll(() => other.recall(key)).toBe('Grüße\r\nund mehr')
    expect(await other.recall(long)).toBeUndefined()
    expect([...one.lines, ...other.lines]).toEqual([])
    if (!real) return
    const redis = openRedis(url)
    const week = 7 * 24 * 3600 * 1000
    const left = await redis.send('PTTL', `parley:llm:${key}`)
    expect(left).toBeGreaterThan(week - 60_000)
    expect(left).toBeLessThanOrEqual(week)
    redis.close()
  })
})

verifies('mail.llm.redis-away', 'One warning, and this process remembers by itself until Redis is back', async () => {
  const port = await freePort()
  const clock = new TestClock()
  const { keep, recall, lines } = open(`redis://me:hush-hush@127.0.0.1:${port}`, { clock, restMs: 5000 })
  const key = newKey()
  for (let n = 0; n < 3; n++) expect(await recall(key)).toBeUndefined()
  keep(key, 'fine')
  expect(await recall(key)).toBe('fine')
  clock.advance(5000)
  expect(await recall(key)).toBe('fine')
  expect(lines).toMatchObject([{ level: 40, msg: expect.stringContaining('Redis is away') }])
  await startStandIn({ port, password: 'hush-hush' })
  clock.advance(5000)
  expect(await recall(key)).toBe('fine')
  expect(lines.slice(1)).toMatchObject([{ level: 30, msg: 'Redis is back' }])
  expect(JSON.stringify(lines)).not.toContain('hush')
})

verifies('mail.llm.redis-away', 'A Redis that hangs is waited for once, half a second', async () => {
  const redis = await startStandIn({ answer: () => undefined })
  const clock = new TestClock()
  const { recall, lines } = open(redis.url, { clock })
  const waiting = recall(newKey())
  await expect.poll(() => redis.got).toEqual(['GET'])
  clock.advance(500)
  expect(await waiting).toBeUndefined()
  expect(await recall(newKey())).toBeUndefined()
  expect(redis.got).toEqual(['GET'])
  expect(lines).toHaveLength(1)
})

verifies(
  'mail.llm.redis-away',
  'A Redis that is full is warned of once, and answers are recalled from memory',
  async () => {
    const redis = await startStandIn({
      answer: ([name]) => (name === 'GET' ? '$-1\r\n' : '-OOM command not allowed\r\n'),
    })
    const { keep, recall, lines } = open(redis.url)
    for (const text of ['one', 'two', 'three']) {
      const key = newKey()
      keep(key, text)
      expect(await recall(key)).toBe(text)
    }
    expect(lines).toMatchObject([{ level: 40, reason: expect.stringContaining('OOM') }])
  },
)
