/** Hints for open pages: how often they are told, on both engines. */
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { registered } from '../../../test/support/hub.ts'
import { back, front, openPages } from '../../../test/support/pages.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { operator } from '../access/callers.ts'
import { send } from '../messages/send.ts'
import { findEventPosition, followPageEvents, type PageEvent } from './events.ts'

eachEngine('Hints', (open, dialect) => {
  verifies('web.events.sparing', 'are merged for each page, and shared out among many', async () => {
    const { hub, clock } = await openPages(open)
    const write = async (project = back) =>
      (await send(hub, registered('Bob', project), { subject: 'Plan', body: 'hello', to: [{ name: 'Bob' }] })).messageId
    const watch = async (project: string) => {
      const told: PageEvent[] = []
      await followPageEvents(hub, operator, { project, tell: (hint) => told.push(hint) })
      return told
    }
    const pages = await Promise.all(Array.from({ length: 30 }, () => watch(back)))
    const counts = () => pages.map((told) => told.length)
    const all = (count: number) => pages.map(() => count)
    await write()
    await expect.poll(counts).toEqual(all(1))
    // Told at once, because it was not told of anything yet: by then the others were passed over.
    const fresh = await watch(back)
    await write()
    const last = await write()
    let passed = 0
    const soon = (told: readonly PageEvent[]) =>
      expect.poll(
        () => {
          clock.advance(5)
          passed += 5
          return told.length
        },
        { timeout: 4000, interval: 50 },
      )
    await soon(fresh).toBe(1)
    clock.advance(999 - passed)
    expect(counts()).toEqual(all(1))
    clock.advance(1)
    await expect.poll(() => pages.map((told) => told.at(-1)?.messageId)).toEqual(all(last))
    expect(counts()).toEqual(all(2))
    // A page of another project waits for none of them.
    const elsewhere = await watch(front)
    await write()
    await write(front)
    await soon(elsewhere).toBe(1)
    expect(counts()).toEqual(all(2))
    await hub.close()
  })

  verifies(
    'web.events.hints',
    'go on after the last page was closed while something was still to be told',
    async () => {
      const { hub, clock } = await openPages(open)
      const write = () => send(hub, registered('Bob', back), { subject: 'Plan', body: 'hello', to: [{ name: 'Bob' }] })
      for (let n = 0; n < 5; n++) {
        const told: PageEvent[] = []
        const stop = await followPageEvents(hub, operator, { project: back, tell: (hint) => told.push(hint) })
        await write()
        await expect.poll(() => told.length).toBe(1)
        // The next look is due in a moment.
        await write()
        stop()
        clock.advance(1000)
      }
      await hub.close()
    },
  )

  verifies('web.events.gapless', 'are given of what came since a place was found', async () => {
    const { hub } = await openPages(open)
    const write = async () =>
      (await send(hub, registered('Bob', back), { subject: 'Plan', body: 'hello', to: [{ name: 'Bob' }] })).messageId
    const watch = async (since: string) => {
      const told: PageEvent[] = []
      const stop = await followPageEvents(hub, operator, { project: back, since, tell: (hint) => told.push(hint) })
      stop()
      return told.map(({ messageId }) => messageId)
    }
    await write()
    const { since } = await findEventPosition(hub, operator)
    // On PostgreSQL a transaction of anybody that is still open may let it seem new.
    if (dialect === 'sqlite') expect(await watch(since)).toEqual([])
    await write()
    const newest = await write()
    expect(await watch(since)).toEqual([newest])
    await hub.close()
  })
})
