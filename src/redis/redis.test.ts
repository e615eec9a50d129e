/** The client of Redis: what it sends and gets, and how soon it gives up. */
import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { TestClock } from '../../test/support/clock.ts'
import { loadedBy } from '../../test/support/loaded.ts'
import { eachRedis, startStandIn } from '../../test/support/redis.ts'
import { freePort } from '../../test/support/redis-server.ts'
import { verifies } from '../../test/support/verifies.ts'
import { openRedis, type RedisOptions } from './redis.ts'

/** Ample: a machine under load is no Redis that is away. */
const patient = { timeoutMs: 10_000 }

function open(url: string, options: RedisOptions = patient) {
  const redis = openRedis(url, options)
  onTestFinished(() => redis.close())
  const failure = (...command: [string, ...(string | number)[]]) =>
    redis.send(...command).then(
      (reply) => `answered ${reply}`,
      (error: Error) => error.message,
    )
  return { ...redis, failure }
}

const newKey = () => `parley-test:${randomBytes(6).toString('hex')}`

eachRedis('Redis', (start) => {
  test('keeps what it is given, to the last character', async () => {
    const { send } = open((await start()).url)
    const key = newKey()
    expect(await send('GET', key)).toBeNull()
    const text = 'Grüße 👋\r\n$5\r\n\0 end'
    expect(await send('SET', key, text, 'PX', 60_000)).toBe('OK')
    expect(await send('GET', key)).toBe(text)
    const long = 'ü'.repeat(300_000)
    await send('SET', key, long, 'PX', 60_000)
    expect(await send('GET', key)).toBe(long)
    expect(await send('MGET', key, newKey())).toEqual([long, null])
  })

  test('answers many calls at once, each with its own', async () => {
    const { send } = open((await start()).url)
    const key = newKey()
    const counted = await Promise.all(Array.from({ length: 500 }, () => send('INCR', key)))
    expect(counted).toEqual(Array.from({ length: 500 }, (_, n) => n + 1))
  })

  test('refuses a command, and goes on with the next', async () => {
    const { send, failure } = open((await start()).url)
    expect(await failure('FROBNICATE')).toMatch(/^Redis refused it: ERR unknown command/)
    expect(await send('GET', newKey())).toBeNull()
  })

  test('is used with the password and the database of its URL, or not at all', async ({ skip }) => {
    const password = 'p@ss:w/rd'
    const { url, ours } = await start(password)
    skip(!ours, 'the password of REDIS_URL is not ours to choose')
    const key = newKey()
    await open(url).send('SET', key, 'in 0', 'PX', 60_000)
    expect(await open(`${url}/2`).send('GET', key)).toBeNull()
    expect(await open(`${url}/0`).send('GET', key)).toBe('in 0')
    const wrong = url.replace(encodeURIComponent(password), 'wrong')
    for (const bad of [wrong, `${url}/99`]) {
      const told = await open(bad).failure('GET', key)
      expect(told).toMatch(/^Redis (takes no such password|has no such database)$/)
    }
  })
})

eachRedis('A limiter', (start) => {
  test('can count and let keys expire in one step', async ({ skip }) => {
    const { url, real } = await start()
    skip(!real, 'the stand-in runs no scripts')
    const { send } = open(url)
    const key = newKey()
    const script = "local n = redis.call('INCR', KEYS[1]) redis.call('PEXPIRE', KEYS[1], ARGV[1]) return {n, 'ok'}"
    expect(await send('EVAL', script, 1, key, 60_000)).toEqual([1, 'ok'])
    expect(await send('PTTL', key)).toBeGreaterThan(0)
  })
})

test('A Redis that is away is told at once, left alone for a while, and asked again', async () => {
  const port = await freePort()
  const clock = new TestClock()
  const { send, failure } = open(`redis://127.0.0.1:${port}`, { clock, timeoutMs: 500, restMs: 5000 })
  expect(await failure('GET', 'a')).toBe('Redis cannot be reached (ECONNREFUSED)')
  const redis = await startStandIn({ port })
  expect(await failure('GET', 'a')).toBe('Redis was away a moment ago')
  expect(redis.got).toEqual([])
  clock.advance(5000)
  expect(await send('GET', 'a')).toBeNull()
  expect(clock.pending).toBe(0)
})

test('A Redis that says nothing is waited for no longer than the time-out, by all calls together', async () => {
  const redis = await startStandIn({ answer: () => undefined })
  const clock = new TestClock()
  const { failure } = open(redis.url, { clock, timeoutMs: 500, restMs: 5000 })
  const calls = [failure('GET', 'a'), failure('GET', 'b')]
  await expect.poll(() => redis.got.length).toBe(2)
  clock.advance(500)
  expect(await Promise.all(calls)).toEqual(Array(2).fill('Redis gave no reply within 500 ms'))
  expect(await failure('GET', 'c')).toBe('Redis was away a moment ago')
  expect(clock.pending).toBe(0)
})

test('A Redis that closes, or speaks another protocol, fails the calls that wait', async () => {
  const clock = new TestClock()
  const redis = await startStandIn({ answer: ([name]) => (name === 'PING' ? '+PONG\r\n' : undefined) })
  const { failure, send } = open(redis.url, { clock, restMs: 1000 })
  await send('PING')
  const call = failure('GET', 'a')
  await expect.poll(() => redis.got).toEqual(['PING', 'GET'])
  for (const socket of redis.sockets) socket.destroy()
  expect(await call).toMatch(/^Redis (closed the connection|cannot be reached \(ECONNRESET\))$/)
  clock.advance(1000)
  expect(await send('PING')).toBe('PONG')
  for (const answer of ['HTTP/1.1 400 Bad Request\r\n\r\n', '*1\r\n-ERR inside\r\n']) {
    const other = await startStandIn({ answer: () => answer })
    expect(await open(other.url).failure('GET', 'a')).toBe('Redis answered with something that is no reply')
  }
  // A length that is none: the client waits for the rest of the reply, and we no longer than for any other.
  const vague = await startStandIn({ answer: () => '$five\r\n' })
  const answer = open(vague.url, { clock, timeoutMs: 500 }).failure('GET', 'a')
  await expect.poll(() => vague.got).toEqual(['GET'])
  clock.advance(500)
  expect(await answer).toBe('Redis gave no reply within 500 ms')
})

verifies('all.redis.lazy', 'No program loads the client of Redis at its start', () => {
  for (const program of ['src/app/program.ts', 'src/app/serve.ts', 'src/app/bus.ts']) {
    const { libraries } = loadedBy(program)
    for (const library of ['@redis/client', 'tar-stream']) expect(libraries).not.toContain(library)
  }
  expect(loadedBy('src/redis/redis.ts').libraries).toContain('@redis/client')
})
