/** Readings that pages share: read once while nothing changes, anew after every change, and never by others of another sight. */
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { dbOf } from '../../../test/support/feed.ts'
import { back, front, openPages } from '../../../test/support/pages.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { local, operator } from '../access/callers.ts'
import { findEventPosition } from './events.ts'
import { readFrame } from './frame.ts'
import { knowInitials } from './initials.ts'
import { showThread } from './threads.ts'

eachEngine('Kept readings', (open, dialect) => {
  verifies('web.pages.statements', 'a thread page asks the database at most twelve times', async () => {
    const { hub, write } = await openPages(open)
    for (let n = 0; n < 30; n++) await write('Ann', [{ name: 'Bob' }], { thread: 'T-1' })
    const page = async () => {
      await knowInitials(hub, local)
      const { mark } = await findEventPosition(hub, local)
      await showThread(hub, local, back, { thread: 'T-1' })
      await readFrame(hub, local, { mark })
    }
    // The first counts what was sent, which is a commit.
    for (let n = 0; n < 3; n++) await page()
    let statements = 0
    const db = dbOf(hub)
    const ask = db.all.bind(db)
    db.all = (query) => {
      statements++
      return ask(query)
    }
    const counted = async () => {
      statements = 0
      await page()
      return statements
    }
    // On PostgreSQL a transaction of anybody that is still open lets the feed seem new.
    if (dialect === 'sqlite') expect(await counted()).toBeLessThanOrEqual(12)
    else await expect.poll(counted, { timeout: 20_000 }).toBeLessThanOrEqual(12)
    expect(statements).toBeGreaterThan(0)
    await hub.close()
  })

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
})
