/** Being told of changes, on both engines: whoever begins to follow while something is committed. */
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { systemClock } from '../../base/clock.ts'
import { local } from '../access/callers.ts'
import { send } from '../messages/send.ts'
import { beginFollowing, followUpdates } from './updates.ts'

eachEngine('A follower', (open) => {
  verifies('hub.updates.mail', 'that is made while it begins to follow itself misses nothing', async () => {
    // Changes that an open transaction hides are looked for again after a moment, which a clock that stands still never reaches.
    const hub = await openTestHub(await (await open()).connect(), { clock: systemClock })
    await send(hub, as('alice'), { to: [{ name: 'carol' }], body: 'for somebody else' })
    // Somebody else follows already, and the feed goes on while these join.
    await followUpdates(hub, { caller: local, name: 'carol' }, { resources: [], tell: () => {} })
    const each = Array.from({ length: 40 }, async (_, moments) => {
      const name = `bob-${moments}`
      const [hubCaller, target] = [{ caller: local, name }, { kind: 'agent', name } as const]
      const told: string[] = []
      const begin = await beginFollowing(hub, hubCaller, target)
      // Something to catch up with, which takes a while.
      await send(hub, as('alice'), { to: [{ name: 'carol' }], body: 'meanwhile' })
      const joined = followUpdates(hub, hubCaller, {
        resources: [{ uri: name, target, ...begin }],
        tell: ({ uri }) => told.push(uri),
      })
      for (let n = 0; n < moments; n++) await (n % 4 === 3 ? new Promise(setImmediate) : undefined)
      await send(hub, as('alice'), { to: [{ name }], body: 'one' })
      await joined
      await send(hub, as('alice'), { to: [{ name }], body: 'two' })
      await expect.poll(() => told).toEqual([name, name])
    })
    await Promise.all(each)
    await hub.close()
  })
})
