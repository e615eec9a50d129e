/** Presence on a topic: `topic_presence`. */
import { expect } from 'vitest'
import { httpPeer, type Peer, waiting } from '../../support/bus.ts'
import { shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()
const alice = (): Peer => httpPeer(parley(), '?agent=Alice')
const bob = (): Peer => httpPeer(parley(), '?agent=bob')

interface Presence {
  topic_id: string
  window_seconds: number
  limit: number
  now: number
  peers: { agent_name: string; last_seq: number; updated_at: number; age_seconds: number }[]
  count: number
}

const presence = (topic_id: string, args: object = {}) =>
  alice().call<Presence>('topic_presence', { topic_id, ...args })
const names = async (topic: string, args?: object) =>
  (await presence(topic, args)).peers.map(({ agent_name }) => agent_name)

verifies(
  ['bus.presence.sync', 'bus.presence.window', 'bus.times.seconds'],
  'Who has joined is present once it syncs, with its cursor and its age',
  async () => {
    const topic = await alice().join('Alice', 'presence')
    await bob().join('bob', 'presence')
    expect(await presence(topic)).toEqual({
      topic_id: topic,
      window_seconds: 300,
      limit: 200,
      now: expect.any(Number),
      peers: [],
      count: 0,
      has_more: false,
    })
    await alice().send(topic, 'one', 'two')
    await bob().sync(topic, { max_items: 1 })
    const { peers, now, count } = await presence(topic)
    expect(count).toBe(2)
    expect(peers).toMatchObject([
      { agent_name: 'bob', last_seq: 1 },
      { agent_name: 'Alice', last_seq: 0 },
    ])
    for (const { updated_at, age_seconds } of peers) {
      expect(age_seconds).toBeCloseTo(now - updated_at, 6)
      expect(age_seconds).toBeGreaterThanOrEqual(0)
      expect(Math.abs(Date.now() / 1000 - updated_at)).toBeLessThan(60)
    }
    expect(await names(topic, { limit: 1 })).toEqual(['bob'])
    expect(await presence(topic, { limit: 1 })).toMatchObject({
      has_more: true,
      note: expect.stringMatching(/higher limit/),
    })
  },
)

verifies('bus.presence.window', 'A peer that was silent for longer than the window is left out', async () => {
  const topic = await alice().join('Alice', 'window')
  await bob().join('bob', 'window')
  await bob().sync(topic)
  await expect.poll(() => names(topic, { window_seconds: 1 }), { timeout: 5000 }).toEqual([])
  expect(await names(topic, { window_seconds: 600 })).toEqual(['bob'])
  await bob().sync(topic)
  expect(await names(topic, { window_seconds: 1 })).toEqual(['bob'])
})

verifies('bus.presence.sync', 'A peer that waits is present all the time, with the smallest window', async () => {
  const topic = await alice().join('Alice', 'patience')
  await bob().join('bob', 'patience')
  const began = performance.now()
  const answer = bob().sync(topic, { wait_seconds: 20 })
  await expect.poll(() => waiting(parley().storage, topic)).toEqual(['bob'])
  // Looked at again and again until well past the window.
  while (performance.now() - began < 1700) {
    const { peers } = await presence(topic, { window_seconds: 1 })
    expect(peers).toMatchObject([{ agent_name: 'bob', age_seconds: 0 }])
    await bob().call('ping')
  }
  await alice().send(topic, 'the end')
  expect(await answer).toMatchObject({ status: 'ready' })
  await expect.poll(() => names(topic, { window_seconds: 1 }), { timeout: 5000 }).toEqual([])
})

verifies('bus.presence.window', 'Windows and limits are whole numbers of at least 1', async () => {
  const topic = await alice().join('Alice', 'bounds')
  for (const args of [
    { window_seconds: 0 },
    { window_seconds: -5 },
    { window_seconds: 1.5 },
    { limit: 0 },
    { limit: 'x' },
  ])
    await expect(presence(topic, args), JSON.stringify(args)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  await bob().join('bob', 'bounds')
  await bob().sync(topic)
  expect(await names(topic, { window_seconds: Number.MAX_SAFE_INTEGER, limit: Number.MAX_SAFE_INTEGER })).toEqual([
    'bob',
  ])
})
