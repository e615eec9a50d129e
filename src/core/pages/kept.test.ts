/** Readings that pages share: read once while nothing changes, anew after every change, and never by others of another sight. */
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { openTx, write as writeChange } from '../../../test/support/feed.ts'
import { front, openPages } from '../../../test/support/pages.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { local, operator } from '../access/callers.ts'
import { findEventPosition } from './events.ts'
import { readFrame } from './frame.ts'

eachEngine('Kept readings', (open, dialect) => {
  verifies(
    ['web.pages.statements', 'web.access.sight'],
    'a change is seen at once, and nobody sees through others',
    async () => {
      const { hub, write, keyed, clock } = await openPages(open)
      await write('Ann', [{ name: 'Cleo' }], { subject: 'between keys' })
      const ann = await keyed('Ann')
      await keyed('Cleo')
      const frame = async (caller: typeof local | typeof ann) =>
        readFrame(hub, caller, { mark: (await findEventPosition(hub, caller)).mark })
      const subjects = async (caller: typeof local | typeof ann) =>
        (await frame(caller)).threads.items.map(({ subject }) => subject)
      expect(await subjects(operator)).toEqual(['between keys'])
      expect(await subjects(local)).toEqual([''])
      expect(await subjects(ann)).toEqual(['between keys'])
      // Counting behind the sends commits, too.
      const readTwice = async () => new Set([await frame(local), await frame(local)]).size
      await expect.poll(readTwice).toBe(1)
      await write('Dora', [{ name: 'Bob' }], { subject: 'new' }, front)
      expect(await subjects(local)).toContain('new')
      const before = await frame(local)
      clock.advance(2001)
      expect(await frame(local)).not.toBe(before)
      await hub.close()
    },
  )

  verifies('web.pages.statements', 'are kept while others commit what changes nothing', async () => {
    const { hub, database } = await openPages(open)
    const mark = async () => (await findEventPosition(hub, local)).mark
    const [one, other] = [await database.connect(), await database.connect()]
    const before = await mark()
    await other.tx((tx) => tx.change(sql`UPDATE agents SET active_at = active_at + 1`))
    expect(await mark()).toBe(before)
    const early = await openTx(one)
    await writeChange(early.tx, 'early', 1)
    expect(await mark()).toBe(before)
    // Its id is higher, and in sight first.
    if (dialect === 'postgres') await other.tx((tx) => writeChange(tx, 'late', 2))
    const between = await mark()
    await early.commit()
    expect(new Set([before, await mark()]).size).toBe(2)
    expect(await mark()).not.toBe(between)
    await hub.close()
  })
})
