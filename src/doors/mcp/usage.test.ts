/** The record of calls: counts, a ring of the last ones, and reports from time to time. */
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { briefly, emitUsage, Usage } from './usage.ts'

const noted = (usage: Usage, count: number) => {
  const tool = usage.count('mail', 'send_message', 'messaging')
  for (let at = 1; at <= count; at++)
    usage.note({ tool, at, ms: 0, outcome: 'ok', project: undefined, agent: undefined })
}

const times = (usage: Usage) => usage.calls().map(({ at }) => at)

verifies('mail.recent.bounded', 'Only the last calls are kept, the newest first', () => {
  const usage = new Usage({ noting: true, size: 3 })
  expect(times(usage)).toEqual([])
  noted(usage, 2)
  expect(times(usage)).toEqual([2, 1])
  noted(usage, 8)
  expect(times(usage)).toEqual([8, 7, 6])
})

test('Where calls are not noted they are still counted', () => {
  const usage = new Usage({ noting: false })
  noted(usage, 5)
  expect(usage.calls()).toEqual([])
  usage.count('bus', 'sync', 'topics').calls++
  expect(usage.tools('bus')).toMatchObject([{ name: 'sync', calls: 1, errors: 0 }])
  expect(usage.tools()).toHaveLength(2)
})

verifies(
  'mail.recent.bounded',
  'Of what a caller wrote only text is kept, and only the beginning of a long one',
  () => {
    expect(briefly('/srv/backend')).toBe('/srv/backend')
    for (const other of [undefined, null, 5, { toString: () => 'x' }, ['x']]) expect(briefly(other)).toBeUndefined()
    expect(briefly('x'.repeat(256))).toHaveLength(256)
    expect(briefly('x'.repeat(1_000_000))).toBe('x'.repeat(256))
    expect(briefly(`${'x'.repeat(255)}😀`)).toBe(`${'x'.repeat(255)}\ufffd`)
    expect(briefly('a\nb\u009bc\u2028d')).toBe('a\ufffdb\ufffdc\ufffdd')
  },
)

verifies('mail.metrics.snapshot', 'A snapshot of what was called is logged every interval, until it is ended', () => {
  const lines: Record<string, unknown>[] = []
  const to = new Writable({
    write(chunk, _, done) {
      lines.push(JSON.parse(String(chunk)))
      done()
    },
  })
  const clock = new TestClock()
  const usage = new Usage({ noting: false })
  usage.count('mail', 'whois', 'identity')
  const tool = usage.count('mail', 'send_message', 'messaging')
  const end = emitUsage(usage, { clock, log: pino(to), ms: 60_000 })
  clock.advance(59_999)
  expect(lines).toEqual([])
  tool.calls = 42
  tool.errors = 1
  clock.advance(1)
  expect(lines).toMatchObject([
    {
      level: 30,
      event: 'tool_metrics_snapshot',
      tools: [{ name: 'send_message', cluster: 'messaging', calls: 42, errors: 1, door: 'mail' }],
    },
  ])
  expect(lines[0]?.tools).toHaveLength(1)
  clock.advance(60_000)
  expect(lines).toHaveLength(2)
  end()
  expect(clock.pending).toBe(0)
})

test('An interval of years is one that a timer can keep', () => {
  const waits: number[] = []
  const clock = {
    now: () => 0,
    monotonic: () => 0,
    after: (ms: number) => {
      waits.push(ms)
      return () => {}
    },
  }
  emitUsage(new Usage({ noting: false }), { clock, log: pino({ level: 'silent' }), ms: 315_360_000_000 })
  expect(waits).toEqual([2_147_483_647])
})
