/** Topics made, closed and opened by several at once, on both engines. */

import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { commons } from '../../base/names.ts'
import { local } from '../access/callers.ts'
import type { Hub } from '../hub/hub.ts'
import { closeTopic, createTopic, listTopics, reopenTopic } from './topics.ts'

eachEngine('Several who', (open) => {
  const start = async () => {
    const database = await open()
    const hubs: Hub[] = []
    for (let n = 0; n < 3; n++) hubs.push(await openTestHub(await database.connect()))
    const all = <T>(work: (hub: Hub, n: number) => Promise<T>): Promise<T[]> =>
      Promise.all([...hubs, ...hubs].map((hub, n) => work(hub, n)))
    const close = async () => {
      for (const hub of hubs) await hub.close()
    }
    return { hub: hubs[0] as Hub, all, close }
  }

  verifies(['bus.topic.once', 'all.engines.alike'], 'make a topic of one name at once get the same one', async () => {
    const { hub, all, close } = await start()
    for (let n = 0; n < 10; n++) {
      const made = await all((hub) => createTopic(hub, local, commons, { name: `Topic ${n}`, mode: 'reuse' }))
      expect(new Set(made.map(({ uid }) => uid)).size).toBe(1)
    }
    const { topics } = await listTopics(hub, local, commons, { status: 'all', limit: 100 })
    expect(topics.map(({ name }) => name)).toEqual(Array.from({ length: 10 }, (_, n) => `Topic ${9 - n}`))
    const apart = await all((hub) => createTopic(hub, local, commons, { name: 'apart', mode: 'new' }))
    expect(new Set(apart.map(({ uid }) => uid)).size).toBe(6)
    await close()
  })

  verifies('bus.topic.close', 'close a topic at once close it once, and all hear of the one reason', async () => {
    const { hub, all, close } = await start()
    const { uid } = await createTopic(hub, local, commons, { name: 'closing', mode: 'reuse' })
    const closed = await all((hub, n) => closeTopic(hub, local, commons, { uid, reason: `reason ${n}` }))
    expect(closed.filter(({ already }) => !already)).toHaveLength(1)
    expect(new Set(closed.map(({ topic }) => topic.closeReason)).size).toBe(1)
    const opened = await all((hub) => reopenTopic(hub, local, commons, uid))
    expect(opened.filter(({ already }) => !already)).toHaveLength(1)
    expect(opened.map(({ topic }) => topic.closeReason)).toEqual(Array.from({ length: 6 }, () => undefined))
    await close()
  })
})
