/** The text of metrics, by the rules of Prometheus. */
import { expect, test } from 'vitest'
import { Meters } from './meters.ts'

test('a histogram counts each value in every bucket that it fits into', async () => {
  const meters = new Meters()
  const seconds = meters.histogram({ name: 'took', help: 'Time.', labels: ['tool'] }, [0.1, 1]).labels('send')
  for (const value of [0.05, 0.1, 0.5, 7]) seconds.observe(value)
  expect(await meters.text()).toBe(
    [
      '# HELP took Time.',
      '# TYPE took histogram',
      'took_bucket{le="0.1",tool="send"} 2',
      'took_bucket{le="1",tool="send"} 3',
      'took_bucket{le="+Inf",tool="send"} 4',
      'took_sum{tool="send"} 7.65',
      'took_count{tool="send"} 4',
      '',
    ].join('\n'),
  )
})

test('a value without labels is shown from the start, one with labels once it has counted', async () => {
  const meters = new Meters()
  meters.gauge({ name: 'open', help: 'Open.' }).labels()
  const calls = meters.counter({ name: 'calls', help: 'Calls.', labels: ['door', 'tool'] })
  calls.labels('mail', 'never')
  calls.labels('mail', 'often').inc()
  calls.labels('mail', 'often').inc(2)
  const lines = (await meters.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  expect(lines).toEqual(['open 0', 'calls{door="mail",tool="often"} 3'])
})

test('whatever a label says stays inside of its quotes', async () => {
  const meters = new Meters()
  meters
    .counter({ name: 'calls', help: 'Calls.', labels: ['tool'] })
    .labels('a"b\\c\nd')
    .inc()
  expect(await meters.text()).toContain(String.raw`calls{tool="a\"b\\c\nd"} 1`)
})

test('values are brought up to date before they are read', async () => {
  const meters = new Meters()
  const open = meters.gauge({ name: 'open', help: 'Open.' }).labels()
  meters.onRead(async () => open.set(5))
  expect(await meters.text()).toContain('open 5')
})
