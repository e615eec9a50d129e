/** Two bus processes and one server on one storage folder: what one does, all see, and those who wait are woken. */
import { expect } from 'vitest'
import { httpPeer, type Peer, startBus, waiting } from '../support/bus.ts'
import { eras, share, startParley, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const together = share(async (later) => {
  const storage = await temporaryFolder(later)
  // All three begin on a folder without a file.
  const [parley, ...peers] = await Promise.all([
    startParley({ storage, later }),
    startBus({ storage, era: eras[0], later }),
    startBus({ storage, era: eras[1], later }),
  ])
  const all = [...peers, httpPeer(parley, '?agent=peer-2')].map((peer, n) => ({ peer, name: `peer-${n}` }))
  return { storage, all, parley }
})

verifies(
  ['bus.processes.mixed', 'bus.sync.wait', 'bus.presence.sync'],
  'Whoever sends, the others are woken by it, and each sees the same topic',
  async () => {
    const { storage, all } = together()
    const ids = await Promise.all(all.map(({ peer, name }) => peer.join(name, 'together')))
    const topic = ids[0] ?? ''
    expect(new Set(ids).size).toBe(1)
    for (const round of [0, 1, 2]) {
      const [sender, others] = [all[round], all.filter((_, n) => n !== round)]
      const answers = others.map(({ peer }) => peer.sync(topic, { wait_seconds: 40 }))
      await expect.poll(() => waiting(storage, topic)).toEqual(others.map(({ name }) => name))
      const present = await sender?.peer.call<{ peers: { agent_name: string }[] }>('topic_presence', {
        topic_id: topic,
        window_seconds: 1,
      })
      expect(present?.peers.map(({ agent_name }) => agent_name)).toEqual(
        expect.arrayContaining(others.map(({ name }) => name)),
      )
      const began = performance.now()
      await sender?.peer.send(topic, `round ${round}`)
      for (const answer of answers)
        expect(await answer).toMatchObject({
          status: 'ready',
          received: [{ sender: sender?.name, content_markdown: `round ${round}` }],
        })
      expect(performance.now() - began).toBeLessThan(20_000)
    }
  },
  60_000,
)

verifies('bus.wait.closed', 'A topic that one closes lets all the others return at once', async () => {
  const { storage, all } = together()
  for (const [n, closer] of all.entries()) {
    const ids = await Promise.all(all.map(({ peer, name }) => peer.join(name, `closing ${n}`)))
    const topic = ids[0] ?? ''
    const others = all.filter((other) => other !== closer)
    const answers = others.map(({ peer }) => peer.sync(topic, { wait_seconds: 40 }))
    await expect.poll(() => waiting(storage, topic)).toEqual(others.map(({ name }) => name))
    await closer.peer.call('topic_close', { topic_id: topic, reason: 'enough' })
    for (const answer of answers)
      expect(await answer).toMatchObject({ status: 'empty', topic_status: 'closed', cursor: { last_seq: 0 } })
    await closer.peer.call('topic_reopen', { topic_id: topic })
    const words = others.map(({ peer, name }) => peer.send(topic, name))
    expect(
      (await Promise.all(words))
        .flat()
        .map(({ seq }) => seq)
        .sort(),
    ).toEqual([1, 2])
  }
})

verifies(
  ['bus.processes.mixed', 'bus.name.in-use', 'bus.name.gone'],
  'A name is one name at all of them, and free again when its process is gone',
  async () => {
    const { all, storage, parley } = together()
    const holder = await startBus({ storage })
    await holder.join('Raven', 'names')
    const raven = httpPeer(parley, '?agent=raven')
    const tries: [Peer, string][] = [
      ...all.slice(0, 2).map(({ peer }): [Peer, string] => [peer, 'RAVEN']),
      [raven, 'raven'],
    ]
    for (const [peer, name] of tries)
      await expect(peer.join(name, 'names')).rejects.toMatchObject({ code: 'AGENT_NAME_IN_USE' })
    await holder.kill('SIGKILL')
    const topic = await raven.join('raven', 'names')
    expect((await raven.send(topic, 'croak'))[0]?.sender).toBe('Raven')
    await expect(all[0]?.peer.join('raven', 'names')).rejects.toMatchObject({ code: 'AGENT_NAME_IN_USE' })
  },
)
