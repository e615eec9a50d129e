/** Joining a topic: under which name, and who else may not use that name meanwhile. */
import { describe, expect } from 'vitest'
import { type BusProcess, shareBus, startBus } from '../../support/bus.ts'
import { type EraName, eras } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const bus = shareBus(2)

interface Joined {
  topic_id: string
  name: string
  status: string
  agent_name: string
  reclaim_token: string
}

const join = (peer: BusProcess, args: Record<string, unknown>) => peer.call<Joined>('topic_join', args)

async function makeTopic(name: string): Promise<string> {
  const { topic_id } = await bus.peer(0).call<{ topic_id: string }>('topic_create', { name, mode: 'new' })
  return topic_id
}

describe('topic_join', () => {
  verifies('bus.topic.join', 'answers with the topic, the name and a token, by id and by name', async () => {
    const topic_id = await makeTopic('Entrance')
    const byId = await join(bus.peer(0), { agent_name: 'red-squirrel', topic_id })
    expect(byId).toEqual({
      topic_id,
      name: 'Entrance',
      status: 'open',
      agent_name: 'red-squirrel',
      reclaim_token: expect.stringMatching(/^.{22,}$/),
    })
    expect(await join(bus.peer(0), { agent_name: 'red-squirrel', name: ' entrance ' })).toEqual(byId)
  })

  verifies('bus.topic.join', 'takes exactly one of topic_id and name', async () => {
    const topic_id = await makeTopic('One of two')
    for (const args of [{}, { topic_id, name: 'One of two' }, { topic_id: null, name: null }])
      await expect(join(bus.peer(0), { agent_name: 'a', ...args })).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining('exactly one'),
      })
  })

  verifies(
    ['bus.topic.join', 'bus.errors.closed'],
    'joins a closed topic by id always, by name only if allowed',
    async () => {
      const [topic_id, peer] = [await makeTopic('Shut'), bus.peer(0)]
      await peer.call('topic_close', { topic_id })
      expect(await join(peer, { agent_name: 'reader', topic_id })).toMatchObject({ status: 'closed' })
      await expect(join(peer, { agent_name: 'reader', name: 'Shut' })).rejects.toMatchObject({
        code: 'TOPIC_NOT_FOUND',
      })
      expect(await join(peer, { agent_name: 'reader', name: 'Shut', allow_closed: true })).toMatchObject({ topic_id })
      expect(await peer.sync(topic_id)).toMatchObject({ topic_status: 'closed', status: 'empty' })
    },
  )

  verifies('bus.join.needed', 'comes before sync and cursor_reset', async () => {
    const topic_id = await makeTopic('Not joined')
    const refused = { code: 'AGENT_NOT_JOINED', hint: expect.stringContaining('topic_join') }
    await expect(bus.peer(1).sync(topic_id)).rejects.toMatchObject(refused)
    await expect(bus.peer(1).call('cursor_reset', { topic_id, last_seq: 0 })).rejects.toMatchObject(refused)
    await join(bus.peer(0), { agent_name: 'somebody', topic_id })
    await expect(bus.peer(1).sync(topic_id)).rejects.toMatchObject(refused)
  })

  verifies('bus.names.alike', 'knows a name however it is written, and shows it as first written', async () => {
    const topic_id = await makeTopic('Spelling')
    expect(await join(bus.peer(0), { agent_name: ' Grey Owl ', topic_id })).toMatchObject({ agent_name: 'Grey Owl' })
    await bus.peer(0).send(topic_id, 'hoo')
    expect(await join(bus.peer(0), { agent_name: 'gREY oWL', topic_id })).toMatchObject({ agent_name: 'Grey Owl' })
    expect(await bus.peer(0).sync(topic_id, { include_self: true })).toMatchObject({
      agent_name: 'Grey Owl',
      received: [{ sender: 'Grey Owl' }],
    })
  })

  verifies('bus.sizes.limits', 'takes names of 1 to 64 characters without control characters', async () => {
    const topic_id = await makeTopic('Names')
    for (const agent_name of ['x', 'Ünïcödé 漢字 🦜', '🦜'.repeat(64), 'a/b c.d@e'])
      expect(await join(bus.peer(0), { agent_name, topic_id })).toMatchObject({ agent_name })
    for (const agent_name of ['', '  ', '🦜'.repeat(65), 'two\nlines', 'bell\u0007', '\u0000'])
      await expect(join(bus.peer(0), { agent_name, topic_id }), JSON.stringify(agent_name)).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining('agent_name'),
      })
  })

  verifies('bus.sync.both-ways', 'one process may take part in several topics under several names', async () => {
    const [here, there] = [await makeTopic('Here'), await makeTopic('There')]
    await join(bus.peer(0), { agent_name: 'day', topic_id: here })
    await join(bus.peer(0), { agent_name: 'night', topic_id: there })
    expect((await bus.peer(0).send(here, 'x'))[0]?.sender).toBe('day')
    expect((await bus.peer(0).send(there, 'x'))[0]?.sender).toBe('night')
  })
})

describe('A name', () => {
  verifies(
    'bus.name.in-use',
    'in use by a live process is refused to another, with free ones to choose from',
    async () => {
      const topic_id = await makeTopic('Taken')
      await join(bus.peer(0), { agent_name: 'Fox', topic_id })
      // One that was ever used is not suggested, though nobody holds it now.
      await join(bus.peer(0), { agent_name: 'fox-2', topic_id })
      for (const where of [{ topic_id }, { topic_id: await makeTopic('Elsewhere') }])
        await expect(join(bus.peer(1), { agent_name: 'fOX', ...where, reclaim_token: 'wrong' })).rejects.toMatchObject({
          code: 'AGENT_NAME_IN_USE',
          message: expect.stringContaining('"Fox"'),
          hint: expect.stringMatching(/"Fox-3" or "Fox-4".*reclaim_token/),
        })
      await expect(bus.peer(1).sync(topic_id)).rejects.toMatchObject({ code: 'AGENT_NOT_JOINED' })
      expect(await join(bus.peer(1), { agent_name: 'Fox-3', topic_id })).toMatchObject({ agent_name: 'Fox-3' })
    },
  )

  verifies('bus.name.in-use', 'of the greatest length gets suggestions that can be used', async () => {
    const [topic_id, agent_name] = [await makeTopic('Long'), `a${'🦊'.repeat(63)}`]
    await join(bus.peer(0), { agent_name, topic_id })
    const { hint } = await join(bus.peer(1), { agent_name, topic_id }).then(
      () => Promise.reject(new Error('the name was given to two')),
      (error: { hint: string }) => error,
    )
    const agent = JSON.parse(/"[^"]+"/.exec(hint)?.[0] ?? '""')
    expect(await join(bus.peer(1), { agent_name: agent, topic_id })).toMatchObject({ agent_name: agent })
  })

  verifies('bus.name.in-use', 'goes to who brings the token; the other is told, and can take it back', async () => {
    const topic_id = await makeTopic('Reclaimed')
    const [one, two] = [bus.peer(0), bus.peer(1)]
    const { reclaim_token } = await join(one, { agent_name: 'badger', topic_id })
    await one.send(topic_id, 'from one')
    expect(await join(two, { agent_name: 'badger', topic_id, reclaim_token })).toMatchObject({ reclaim_token })
    expect((await two.send(topic_id, 'from two'))[0]).toMatchObject({ sender: 'badger', seq: 2 })
    await expect(one.sync(topic_id)).rejects.toMatchObject({
      code: 'AGENT_NOT_JOINED',
      message: expect.stringContaining('taken over'),
    })
    await expect(join(one, { agent_name: 'badger', topic_id })).rejects.toMatchObject({ code: 'AGENT_NAME_IN_USE' })
    await join(one, { agent_name: 'badger', topic_id, reclaim_token })
    expect((await one.send(topic_id, 'from one'))[0]?.seq).toBe(3)
  })
})

describe('A process that ends', () => {
  verifies(
    ['bus.name.gone', 'bus.join.needed', 'bus.cursor.durable'],
    'leaves its name to the next one, which joins again and goes on where it was',
    async () => {
      const [storage, other] = [bus.storage(), bus.peer(0)]
      const topic_id = await other.join('other', 'relay')
      const start = async (era: EraName): Promise<BusProcess> => {
        const runner = await startBus({ storage, era })
        // After a restart nobody has joined, whatever the name.
        await expect(runner.sync(topic_id)).rejects.toMatchObject({ code: 'AGENT_NOT_JOINED' })
        await join(runner, { agent_name: 'runner', topic_id })
        return runner
      }
      let runner = await start(eras[0])
      for (const [end, next] of [
        ['close', eras[1]],
        ['SIGTERM', eras[0]],
        ['SIGKILL', eras[1]],
      ] as const) {
        await expect(join(other, { agent_name: 'runner', topic_id })).rejects.toMatchObject({
          code: 'AGENT_NAME_IN_USE',
        })
        await other.send(topic_id, `${end} 1`, `${end} 2`)
        expect((await runner.sync(topic_id, { max_items: 1 })).received[0]?.content_markdown).toBe(`${end} 1`)
        if (end === 'close') await runner.client.close()
        else await runner.kill(end)
        runner = await start(next)
        expect(await runner.read(topic_id)).toEqual([`${end} 2`])
      }
    },
  )
})
