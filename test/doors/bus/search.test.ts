/** `messages_search`: what was said in the topics, and nothing else. */
import { expect } from 'vitest'
import { httpPeer, shareBus } from '../../support/bus.ts'
import { mailbox, serveHere } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const bus = shareBus(2)

interface Found {
  hits: { message_id: string; topic_id: string; topic_name: string; seq: number; sender: string; snippet: string }[]
  count: number
}

const find = (query: string, args: Record<string, unknown> = {}, from = 1) =>
  bus.peer(from).call<Found>('messages_search', { query, ...args })

verifies(
  'bus.search.finds',
  'A message is found as soon as it is sent, also by another process, and in one topic or all',
  async () => {
    const [alice] = [bus.peer(0)]
    const build = await alice.join('alice', 'build')
    const other = await alice.join('alice', 'elsewhere')
    await alice.sync(build, { outbox: [{ content_markdown: 'The **marmalade** pipeline is red again' }] })
    await alice.sync(other, { outbox: [{ content_markdown: 'marmalade, in another place' }] })
    const everywhere = await find('marmalade')
    expect(everywhere.count).toBe(2)
    expect(new Set(everywhere.hits.map(({ topic_name }) => topic_name))).toEqual(new Set(['build', 'elsewhere']))
    const { hits } = await find('marmalade AND red', { topic_id: build })
    expect(hits).toEqual([
      expect.objectContaining({
        topic_id: build,
        topic_name: 'build',
        seq: 1,
        sender: 'alice',
        snippet: expect.stringContaining('**marmalade**'),
      }),
    ])
    expect((await find('marmalade', { limit: 1 })).count).toBe(1)
  },
)

verifies('bus.search.literal', 'No query raises: what is not of the language is looked for as it stands', async () => {
  const alice = bus.peer(0)
  const topic = await alice.join('alice', 'odd')
  await alice.sync(topic, { outbox: [{ content_markdown: 'see src/api/users.ts and auth-service' }] })
  for (const query of ['auth-service', 'src/api/users.ts', '"auth-service" (', 'from:alice users*'])
    expect((await find(query, { topic_id: topic })).count, query).toBe(1)
  for (const query of ['"', ')', 'AND', 'NOT', '* *', 'thread:', '::', '👩‍👩‍👧', "'; DROP TABLE messages; --"])
    expect((await find(query)).count, query).toBeGreaterThanOrEqual(0)
})

verifies(
  'bus.search.topics-only',
  'Mail between agents is never found on the bus, nor another project’s topics',
  async () => {
    const parley = await serveHere()
    await mailbox(parley, 'alice').send('bob', 'the secret is quincunx')
    const here = httpPeer(parley, '?agent=eve')
    const there = httpPeer(parley, '?agent=eve&project=/srv/other')
    const topic = await there.join('eve', 'theirs')
    await there.sync(topic, { outbox: [{ content_markdown: 'quincunx as well' }] })
    const nothing = { hits: [], count: 0, total: 0, has_more: false }
    expect(await here.call('messages_search', { query: 'quincunx' })).toEqual(nothing)
    expect((await there.call<Found>('messages_search', { query: 'quincunx' })).count).toBe(1)
    await there.sync(topic, { outbox: [{ content_markdown: 'one more quincunx' }] })
    const cut = await there.call('messages_search', { query: 'quincunx', limit: 1 })
    expect(cut).toMatchObject({ count: 1, has_more: true, note: expect.stringMatching(/higher limit/) })
    await expect(here.call('messages_search', { query: 'quincunx', topic_id: topic })).rejects.toMatchObject({
      code: 'TOPIC_NOT_FOUND',
    })
  },
)
