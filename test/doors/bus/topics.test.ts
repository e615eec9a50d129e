/** The tools of the bus for topics, one by one: make, find, list, close, reopen. */
import { describe, expect } from 'vitest'
import { look, shareBus } from '../../support/bus.ts'
import { verifies } from '../../support/verifies.ts'

const bus = shareBus(1)
const peer = () => bus.peer(0)

interface Topic {
  topic_id: string
  name: string
  status: string
}

const create = (args: Record<string, unknown> = {}) => peer().call<Topic>('topic_create', args)
const resolve = (args: Record<string, unknown>) => peer().call<Topic>('topic_resolve', args)

verifies(
  ['bus.ping.answer', 'bus.schema.version'],
  'ping answers with the versions, and meta says the same',
  async () => {
    const pong = await peer().call('ping')
    expect(pong).toEqual({
      ok: true,
      spec_version: '6.0',
      schema_version: '6',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    })
    expect(look(bus.storage(), "SELECT value FROM meta WHERE key = 'schema_version'")).toEqual([{ value: '6' }])
  },
)

describe('topic_create', () => {
  verifies(
    ['bus.topic.create', 'bus.names.alike'],
    'reuses an open topic of that name, however it is written',
    async () => {
      const made = await create({ name: '  Build Plan ', metadata: { goal: 'ship' } })
      expect(made).toEqual({ topic_id: expect.any(String), name: 'Build Plan', status: 'open' })
      expect(await create({ name: 'build PLAN', metadata: { goal: 'another' } })).toEqual(made)
      expect(await create({ name: 'Build Plans' })).not.toMatchObject({ topic_id: made.topic_id })
    },
  )

  verifies('bus.topic.create', 'makes another of the same name in mode new, and that is then reused', async () => {
    const first = await create({ name: 'twice' })
    const second = await create({ name: 'twice', mode: 'new' })
    expect(second).toMatchObject({ name: 'twice', status: 'open' })
    expect(second.topic_id).not.toBe(first.topic_id)
    expect(await create({ name: 'twice' })).toEqual(second)
  })

  verifies('bus.topic.create', 'names a topic after its id when no name is given, and never reuses it', async () => {
    const [one, two] = [await create(), await create()]
    expect(one.name).toBe(`topic-${one.topic_id}`)
    expect(two.topic_id).not.toBe(one.topic_id)
  })

  verifies('bus.topic.create', 'makes a new one when the old one is closed', async () => {
    const old = await create({ name: 'over' })
    await peer().call('topic_close', { topic_id: old.topic_id })
    expect(await create({ name: 'over' })).toMatchObject({ name: 'over', status: 'open' })
    expect((await resolve({ name: 'over' })).topic_id).not.toBe(old.topic_id)
  })

  verifies('bus.sizes.limits', 'takes names of 1 to 255 characters, and cuts none', async () => {
    const long = '語'.repeat(254)
    expect((await create({ name: `${long}é` })).name).toBe(`${long}é`)
    for (const name of ['', '   ', `${long}éé`, 'two\nlines', 'nul\0', 'half \ud800'])
      await expect(create({ name }), JSON.stringify(name)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await expect(create({ name: 'x', mode: 'reopen' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('"reuse", "new"'),
    })
    await expect(create({ name: 'x', metadata: ['no object'] })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})

verifies(
  ['bus.topic.list', 'bus.times.seconds'],
  'topic_list shows open, closed or all topics with their details, the newest first',
  async () => {
    const before = Date.now() / 1000
    const names = ['listed-1', 'listed-2', 'listed-3']
    const ids: string[] = []
    for (const name of names) ids.push((await create({ name, metadata: { name, deep: [1, null] } })).topic_id)
    await peer().call('topic_close', { topic_id: ids[1], reason: 'done' })
    const list = async (args = {}) => {
      const { topics, count } = await peer().call<{ topics: Topic[]; count: number }>('topic_list', args)
      expect(count).toBe(topics.length)
      return topics.filter(({ topic_id }) => ids.includes(topic_id))
    }
    const [all, open, closed] = [await list({ status: 'all' }), await list(), await list({ status: 'closed' })]
    expect(all.map(({ name }) => name)).toEqual(names.toReversed())
    expect(open.map(({ name }) => name)).toEqual(['listed-3', 'listed-1'])
    expect(open[0]).toEqual({
      topic_id: ids[2],
      name: 'listed-3',
      status: 'open',
      created_at: expect.any(Number),
      closed_at: null,
      close_reason: null,
      metadata: { name: 'listed-3', deep: [1, null] },
    })
    expect(closed).toMatchObject([{ name: 'listed-2', status: 'closed', close_reason: 'done' }])
    for (const time of [
      (open[0] as unknown as { created_at: number }).created_at,
      (closed[0] as unknown as { closed_at: number }).closed_at,
    ]) {
      expect(time).toBeGreaterThanOrEqual(before - 0.001)
      expect(time).toBeLessThanOrEqual(Date.now() / 1000)
    }
  },
)

verifies(
  'bus.topic.resolve',
  'topic_resolve finds the newest open topic, and a closed one only if allowed',
  async () => {
    const [one, two, three] = [
      await create({ name: 'Found', mode: 'new' }),
      await create({ name: 'Found', mode: 'new' }),
      await create({ name: 'Found', mode: 'new' }),
    ]
    expect(await resolve({ name: ' found ' })).toEqual(three)
    await peer().call('topic_close', { topic_id: three.topic_id })
    expect(await resolve({ name: 'FOUND', allow_closed: true })).toEqual(two)
    await peer().call('topic_close', { topic_id: two.topic_id })
    await peer().call('topic_close', { topic_id: one.topic_id })
    await expect(resolve({ name: 'found' })).rejects.toMatchObject({
      code: 'TOPIC_NOT_FOUND',
      message: expect.stringContaining('closed'),
      hint: expect.stringContaining('allow_closed'),
    })
    expect(await resolve({ name: 'found', allow_closed: true })).toEqual({ ...three, status: 'closed' })
  },
)

describe('topic_close and topic_reopen', () => {
  verifies('bus.topic.close', 'a second close keeps the first time and reason, and warns', async () => {
    const { topic_id } = await create({ name: 'closing' })
    const first = await peer().call('topic_close', { topic_id, reason: 'done' })
    expect(first).toEqual({ topic_id, status: 'closed', closed_at: expect.any(Number), close_reason: 'done' })
    const second = await peer().call('topic_close', { topic_id, reason: 'again' })
    expect(second).toEqual({ ...first, warnings: [{ code: 'ALREADY_CLOSED' }] })
    const without = await create({ name: 'closing without a word' })
    expect(await peer().call('topic_close', { topic_id: without.topic_id })).toMatchObject({ close_reason: null })
  })

  verifies('bus.topic.reopen', 'a reopened topic is as if it had never been closed', async () => {
    const made = await create({ name: 'back again' })
    await peer().call('topic_close', { topic_id: made.topic_id, reason: 'too early' })
    expect(await peer().call('topic_reopen', { topic_id: made.topic_id })).toEqual(made)
    expect(await peer().call('topic_reopen', { topic_id: made.topic_id })).toEqual({
      ...made,
      warnings: [{ code: 'ALREADY_OPEN' }],
    })
    const { topics } = await peer().call<{ topics: Topic[] }>('topic_list', { status: 'open' })
    expect(topics.find(({ topic_id }) => topic_id === made.topic_id)).toMatchObject({
      closed_at: null,
      close_reason: null,
    })
  })
})

verifies('bus.errors.not-found', 'a topic that does not exist is TOPIC_NOT_FOUND at every tool', async () => {
  const missing = { code: 'TOPIC_NOT_FOUND', hint: expect.stringContaining('topic_list') }
  const topic_id = '0000000000000000'
  for (const [tool, args] of [
    ['topic_resolve', { name: 'never made' }],
    ['topic_close', { topic_id }],
    ['topic_reopen', { topic_id }],
    ['topic_join', { agent_name: 'x', topic_id }],
    ['topic_join', { agent_name: 'x', name: 'never made' }],
    ['topic_presence', { topic_id }],
    ['sync', { topic_id, wait_seconds: 0 }],
    ['cursor_reset', { topic_id, last_seq: 0 }],
  ] as const)
    await expect(peer().call(tool, args), tool).rejects.toMatchObject(missing)
})
