/** A burst of changes, and the archive that lets it pass. */
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { dbOf } from '../../../test/support/feed.ts'
import { openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { insertChanges } from '../../store/feed/changes.ts'
import { yieldToBursts } from './yield-to-bursts.ts'

eachEngine('The archive', (open) => {
  /** `waited` is called at the end of each wait, which takes no time here. */
  async function start(waited: (waits: number) => Promise<void>) {
    const hub = await openTestHub(await (await open()).connect())
    const stopping = new AbortController()
    const change = { kind: 'agent.updated', projectId: 1, agentId: 1 } as const
    let waits = 0
    const giveWay = yieldToBursts(hub, stopping.signal, async () => waited(++waits))
    return {
      stopping,
      /** How often it waited before a page of so many changes. */
      async waitsBefore(pageLength: number): Promise<number> {
        waits = 0
        await giveWay(pageLength)
        return waits
      },
      grow: (count: number) =>
        dbOf(hub).tx(async (tx) => {
          const changes = Array.from({ length: count }, () => change)
          insertChanges(tx, changes, { actor: 'local', now: 1 })
        }),
    }
  }

  verifies('mail.archive.gives-way', 'waits for a lull once it falls behind', async () => {
    const { waitsBefore, grow } = await start(async (waits) => {
      if (waits < 5) await grow(100)
    })
    expect(await waitsBefore(500)).toBe(0)
    await grow(500)
    expect(await waitsBefore(500)).toBe(0)
    await grow(501)
    expect(await waitsBefore(500)).toBe(5)
    await grow(501)
    // A page of a few changes is the last of what there is.
    expect(await waitsBefore(5)).toBe(0)
  })

  verifies('mail.archive.gives-way', 'waits ten seconds in all, and goes on beside what lasts longer', async () => {
    const { waitsBefore, grow } = await start(async () => grow(100))
    await waitsBefore(500)
    for (const waits of [100, 0, 0]) {
      await grow(501)
      expect(await waitsBefore(500)).toBe(waits)
    }
    // Once it has caught up, the next burst goes first again.
    await waitsBefore(500)
    await grow(501)
    expect(await waitsBefore(500)).toBe(100)
  })

  verifies('mail.archive.gives-way', 'waits no longer once Parley stops', async () => {
    const { waitsBefore, grow, stopping } = await start(async () => {
      stopping.abort()
      await grow(100)
    })
    await waitsBefore(500)
    await grow(501)
    expect(await waitsBefore(500)).toBe(1)
  })
})
