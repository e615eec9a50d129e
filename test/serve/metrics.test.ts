/** The figures of GET /metrics. */
import { expect } from 'vitest'
import { mailbox, type Parley, shareParley, waitingCalls } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareParley()

verifies('all.metrics.tools', 'The metrics count and time tool calls by door, tool and outcome', async () => {
  const alice = mailbox(parley(), 'alice')
  const before = await read(parley())
  const calls = (tool: string, outcome: string) =>
    `parley_tool_calls_total{door="mailbox",tool="${tool}",outcome="${outcome}"}`
  const timed = (tool: string) => `parley_tool_seconds_count{door="mailbox",tool="${tool}"}`
  await alice.send('counted', 'one')
  await alice.send('counted', 'two')
  await expect(alice.send('counted', '')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  const hangUp = new AbortController()
  const waiting = alice.check({ wait_seconds: 30 }, hangUp.signal)
  await expect.poll(() => waitingCalls(parley())).toBe(1)
  hangUp.abort()
  await expect(waiting).rejects.toThrow()
  const since = async (name: string) => ((await read(parley())).get(name) ?? 0) - (before.get(name) ?? 0)
  await expect.poll(() => since(calls('check_mail', 'cancelled'))).toBe(1)
  expect(await since(calls('check_mail', 'ok'))).toBe(0)
  expect(await since(calls('send_to_agent', 'ok'))).toBe(2)
  expect(await since(calls('send_to_agent', 'error'))).toBe(1)
  expect(await since(timed('send_to_agent'))).toBe(3)
  expect(await since(timed('check_mail'))).toBe(1)
  expect(await since('parley_tool_seconds_sum{door="mailbox",tool="check_mail"}')).toBeGreaterThan(0)
})

verifies('all.metrics.unread', 'The metrics show the unread mail and the process', async () => {
  const alice = mailbox(parley(), 'alice')
  const unread = async () => (await read(parley())).get('parley_unread') ?? -1
  const before = await unread()
  for (const words of ['one', 'two', 'three']) await alice.send('reader', words)
  expect(await unread()).toBe(before + 3)
  await mailbox(parley(), 'reader').check()
  expect(await unread()).toBe(before + 2)
  const lent = await mailbox(parley(), 'reader').check({ lease_seconds: 60 })
  expect(await unread()).toBe(before + 2)
  await mailbox(parley(), 'reader').ack(lent?.id ?? '', lent?.lease ?? '')
  expect(await unread()).toBe(before + 1)
  const values = await read(parley())
  expect(values.get('process_resident_memory_bytes')).toBeGreaterThan(0)
  expect(values.get('nodejs_eventloop_lag_seconds')).toBeGreaterThanOrEqual(0)
})

verifies('mailbox.metrics.latency', 'The metrics show the time from created to taken', async () => {
  const latency = async () => {
    const values = await read(parley())
    return {
      count: values.get('parley_mail_latency_seconds_count') ?? Number.NaN,
      seconds: values.get('parley_mail_latency_seconds_sum') ?? Number.NaN,
    }
  }
  const before = await latency()
  const started = performance.now()
  await mailbox(parley(), 'alice').send('sleeper', 'wake up')
  expect((await latency()).count).toBe(before.count)
  // Time goes by while somebody else waits for nothing.
  expect(await mailbox(parley(), 'other').check({ wait_seconds: 0.3 })).toBeNull()
  await mailbox(parley(), 'sleeper').check()
  const elapsed = (performance.now() - started) / 1000
  const after = await latency()
  expect(after.count).toBe(before.count + 1)
  expect(after.seconds - before.seconds).toBeGreaterThanOrEqual(0.29)
  expect(after.seconds - before.seconds).toBeLessThanOrEqual(elapsed + 0.01)
})
/** Every value of /metrics by its name and labels. */
async function read({ url }: Parley): Promise<Map<string, number>> {
  const response = await fetch(`${url}/metrics`)
  expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4')
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}
