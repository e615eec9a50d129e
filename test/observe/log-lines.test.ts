/** The lines of the log: what they say of a request, and of credentials that were refused. */
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createLouder } from '../../src/app/server-log.ts'
import { createLog } from '../../src/base/log.ts'
import { TestClock } from '../support/clock.ts'
import { startCollector } from '../support/otlp.ts'
import { mailbox, serveLogged } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

/** A server in this process, and the lines of its log that say this. */
async function serveLines(env: Record<string, string> = {}) {
  const { url, lines } = await serveLogged({ env })
  return { url, lines: (msg: string) => lines().filter((line) => line.msg === msg) }
}

verifies('serve.log.request', 'a call is a line with its request, door, tool, outcome, time and trace', async () => {
  const collector = await startCollector()
  const { url, lines } = await serveLines({ ...collector.env, HTTP_REQUEST_LOG_ENABLED: 'true', LOG_LEVEL: 'debug' })
  await mailbox({ url }, 'alice').send('bob', 'hello')
  await expect(mailbox({ url }, 'alice').send('bob', '')).rejects.toThrow()
  await expect.poll(() => lines('request').length).toBe(2)
  const [sent, refused] = lines('request')
  expect(sent).toMatchObject({
    level: 30,
    reqId: expect.stringMatching(/^\w+-\w+$/),
    method: 'POST',
    path: '/agents/alice/mcp',
    status: 200,
    ms: expect.any(Number),
    door: 'mailbox',
    tool: 'send_to_agent',
    outcome: 'ok',
    trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
  })
  expect(refused).toMatchObject({ outcome: 'error' })
  expect(refused?.reqId).not.toBe(sent?.reqId)
  const [called] = lines('a tool was called')
  expect(called).toMatchObject({ reqId: sent?.reqId, trace_id: sent?.trace_id, tool: 'send_to_agent' })
})

verifies('serve.log.refused', 'refused credentials are counted, and the first of a minute logged', async () => {
  const { url, lines } = await serveLines({
    METRICS_TOKEN: 'the-right-token-here',
    HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: 'false',
    HTTP_WRONG_KEYS_PER_MINUTE: '30',
  })
  const ask = (headers: Record<string, string> = {}) => fetch(`${url}/metrics`, { headers })
  const token = `${Buffer.from('{"alg":"HS256"}').toString('base64url')}.e30.c2ln`
  expect((await ask()).status).toBe(401)
  for (let n = 0; n < 40; n++) await ask({ authorization: `Bearer wrong-${n}` })
  await ask({ authorization: `Bearer ${token}` })
  const text = await (await ask({ authorization: 'Bearer the-right-token-here' })).text()
  const counted = (kind: string) =>
    Number(new RegExp(`^parley_credentials_refused_total\\{kind="${kind}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
  expect(counted('none')).toBe(1)
  expect(counted('limited')).toBeGreaterThan(0)
  expect(counted('key') + counted('token') + counted('limited')).toBe(41)
  const told = lines('credentials refused')
  // 20 of a minute, and the test may lie on both sides of its end.
  expect(told.length).toBeGreaterThanOrEqual(20)
  expect(told.length).toBeLessThanOrEqual(40)
  expect(told[0]).toMatchObject({ level: 30, kind: 'none', address: '127.0.0.1' })
  expect(told[1]).toMatchObject({ level: 40, kind: 'key', address: '127.0.0.1' })
  expect(JSON.stringify(told)).not.toContain('wrong-')
})

test('The log is louder for ten minutes, and then as before', () => {
  const clock = new TestClock()
  const log = createLog({ level: 'warn', json: true, to: new PassThrough() })
  const louder = createLouder(log, clock)
  louder()
  expect(log.level).toBe('debug')
  clock.advance(9 * 60_000)
  louder()
  clock.advance(9 * 60_000)
  expect(log.level).toBe('debug')
  clock.advance(60_000)
  expect(log.level).toBe('warn')
})
