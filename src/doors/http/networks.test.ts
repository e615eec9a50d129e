/** Networks of addresses, as they are counted. */
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { HubError } from '../../base/errors.ts'
import { networkOf } from './networks.ts'
import { createWrongKeys } from './wrong-keys.ts'

verifies('post.keys.networks', 'the addresses of a /64 are one, however they are written', () => {
  const networks = {
    '10.0.0.7': '10.0.0.7',
    '::ffff:10.0.0.7': '10.0.0.7',
    '2001:db8::7': '2001:db8:0:0::/64',
    '2001:0DB8:0:0:ffff:1:2:3': '2001:db8:0:0::/64',
    '2001:db8:0:1::7': '2001:db8:0:1::/64',
    '1:2:3:4:5:6:7::': '1:2:3:4::/64',
    '64:ff9b::10.0.0.7': '64:ff9b:0:0::/64',
    'fe80::1%eth0': 'fe80:0:0:0::/64',
    '::1': '0:0:0:0::/64',
    '': '',
  }
  expect(Object.fromEntries(Object.keys(networks).map((address) => [address, networkOf(address)]))).toEqual(networks)
})

verifies('post.keys.networks', 'past a hundred networks a minute all others are counted as one', async () => {
  const clock = new TestClock()
  const counted: Record<string, number> = {}
  const wrong = new HubError('UNAUTHENTICATED', 'wrong')
  const keys = createWrongKeys(5, clock, async ({ guesser }) => {
    counted[guesser] = (counted[guesser] ?? 0) + 1
    throw wrong
  })
  for (let n = 0; n < 1000; n++) expect(await keys.judge(wrong, `10.0.${n >> 8}.${n & 255}`)).toBe(wrong)
  expect([Object.keys(counted).length, counted['key:others'], counted['key:10.0.0.1']]).toEqual([101, 900, 1])
  // A network that is counted by itself stays so, and after a minute there is room again.
  await keys.judge(wrong, '10.0.0.1')
  clock.advance(60_000)
  await keys.judge(wrong, '10.9.9.9')
  expect([counted['key:others'], counted['key:10.0.0.1'], counted['key:10.9.9.9']]).toEqual([900, 2, 1])
})

verifies('post.keys.operator', 'each network by itself, until its minute is over', async () => {
  const clock = new TestClock()
  const wrong = new HubError('UNAUTHENTICATED', 'wrong')
  let elsewhere: HubError | undefined
  const keys = createWrongKeys(2, clock, async () => {
    throw elsewhere ?? wrong
  })
  const heldUp = (address: string) => keys.heldUp(address)?.retryAfter
  // Networks beyond a hundred share a count in the store, and are held up by their own alone.
  for (let n = 0; n < 200; n++) await keys.judge(wrong, `10.0.0.${n}`)
  expect([heldUp('10.0.0.1'), heldUp('10.0.0.150'), heldUp('10.1.1.1')]).toEqual([undefined, undefined, undefined])
  clock.advance(1000)
  await keys.judge(wrong, '10.0.0.150')
  expect([heldUp('10.0.0.1'), heldUp('10.0.0.150')]).toEqual([undefined, 59])
  clock.advance(59_000)
  expect(heldUp('10.0.0.150')).toBeUndefined()
  // Another process has counted up to the limit.
  elsewhere = new HubError('RATE_LIMITED', 'too many', { retryAfter: 40 })
  await keys.judge(wrong, '10.0.0.1')
  expect(heldUp('10.0.0.1')).toBe(40)
})
