/** Holders of a name, on both engines. */
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { openTestHub } from '../../../test/support/hub.ts'
import { codeOf, plain, session } from '../../../test/support/topics.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { commons } from '../../base/names.ts'
import { thisProcess } from '../../base/processes.ts'
import type { Hub } from '../hub/hub.ts'
import { type Holder, join } from '../topics/members.ts'
import { sync } from '../topics/sync.ts'
import { createTopic, type Topic } from '../topics/topics.ts'
import { local } from './callers.ts'
import { processHolder, releaseNames } from './holders.ts'

eachEngine('A name', (open) => {
  const start = async (count: number) => {
    const database = await open()
    const clock = new TestClock()
    const hubs: Hub[] = []
    for (let n = 0; n < count; n++) hubs.push(await openTestHub(await database.connect(), { clock }))
    const topic = await createTopic(hubs[0] as Hub, local, commons, { name: 'names', mode: 'reuse' })
    // Each connection joins a topic of its own: those who join the same one wait for each other anyway.
    const topics = new Map<Hub, Topic>()
    for (const hub of hubs) topics.set(hub, await createTopic(hub, local, commons, { mode: 'new' }))
    const take = (hub: Hub, holder: Holder, name: string, into = topics.get(hub) ?? topic) =>
      codeOf(join(hub, holder, { topic: into, name, token: undefined }))
    const close = async () => {
      for (const hub of hubs) await hub.close()
    }
    return { hubs, hub: hubs[0] as Hub, clock, topic, take, close }
  }

  verifies(['bus.name.in-use', 'all.engines.alike'], 'goes to one of those who take it at once', async () => {
    const { hubs, take, close } = await start(3)
    for (let n = 0; n < 10; n++) {
      const results = await Promise.all(hubs.map((hub, i) => take(hub, session(`${n}/${i}`), `name ${n}`)))
      expect(results.toSorted()).toEqual(['AGENT_NAME_IN_USE', 'AGENT_NAME_IN_USE', 'ok'])
    }
    await close()
  })

  verifies('bus.name.gone', 'goes to one of those who take it at once from a process that is gone', async () => {
    const { hubs, hub, take, close } = await start(3)
    for (let n = 0; n < 5; n++) {
      const gone: Holder = {
        caller: local,
        project: commons,
        key: processHolder(thisProcess().replace(/[^/]*$/, `${n}`)),
      }
      for (const name of ['a', 'b']) expect(await take(hub, gone, `${name} ${n}`)).toBe('ok')
      const results = await Promise.all(
        ['a', 'b'].flatMap((name) => hubs.map((hub, i) => take(hub, session(`${n}/${i}`), `${name} ${n}`))),
      )
      expect(results.filter((result) => result === 'ok')).toHaveLength(2)
    }
    await close()
  })

  verifies(
    'bus.name.gone',
    'is kept by a process as long as it lives, by a session until a minute of silence',
    async () => {
      const { hub, clock, topic, take, close } = await start(1)
      const alive: Holder = { caller: local, project: commons, key: processHolder(thisProcess()) }
      // This process's number with another start: whoever had it before is gone.
      const gone: Holder = { caller: local, project: commons, key: processHolder(thisProcess().replace(/[^/]*$/, '1')) }
      expect(await take(hub, gone, 'owl', topic)).toBe('ok')
      expect(await take(hub, alive, 'owl', topic)).toBe('ok')
      clock.advance(10 * 60_000)
      expect(await take(hub, session('other'), 'owl', topic)).toBe('AGENT_NAME_IN_USE')
      await releaseNames(hub, local, alive.key)
      expect(await take(hub, session('other'), 'owl', topic)).toBe('ok')

      clock.advance(50_000)
      expect(await take(hub, session('third'), 'owl', topic)).toBe('AGENT_NAME_IN_USE')
      await sync(hub, session('other'), topic.uid, plain)
      clock.advance(59_999)
      expect(await take(hub, session('third'), 'owl', topic)).toBe('AGENT_NAME_IN_USE')
      clock.advance(1)
      expect(await take(hub, session('third'), 'owl', topic)).toBe('ok')
      expect(await codeOf(sync(hub, session('other'), topic.uid, plain))).toBe('AGENT_NOT_JOINED')
      await close()
    },
  )
})
