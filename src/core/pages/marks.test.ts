/** Marks of persons, on both engines: visits, threads that were opened, and the counts of the sidebar. */
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { front, openPages } from '../../../test/support/pages.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { type Caller, local, namedOperator, operator } from '../access/callers.ts'
import { searchProject } from '../search/project.ts'
import { countNewTo, findMissed, isNew, markSeen, namedPerson, readMarks, seenAt } from './marks.ts'
import { sendAsOverseer } from './overseer.ts'
import { listAllMail } from './unified-inbox.ts'

const [ann, bob] = [namedPerson('Ann'), namedPerson('Bob')]
const hour = 3_600_000

eachEngine('Marks', (open) => {
  verifies(['web.new.first', 'web.new.own'], 'begin with the last day, and move with visits and threads', async () => {
    const { hub, write, clock } = await openPages(open)
    await write('Dora', [{ name: 'Bob' }], {}, front)
    clock.advance(25 * hour)
    const day = await write('Dora', [{ name: 'Bob' }], { thread: 'T-1' }, front)
    const count = async (person = ann) => (await countNewTo(hub, local, await readMarks(hub, local, person))).total
    const newest = async (person = ann) => {
      const marks = await readMarks(hub, local, person)
      const { items } = await listAllMail(hub, local, { limit: 10 })
      return items.filter((item) => isNew(marks, item)).map(({ id }) => id)
    }
    expect([await count(), await newest()]).toEqual([1, [day]])
    const marks = await readMarks(hub, local, ann)
    const { items } = await listAllMail(hub, local, { limit: 1 })
    const opened = await markSeen(hub, local, marks, items)
    expect([await count(), await newest(), await count(bob)]).toEqual([0, [], 1])
    expect(seenAt(opened, items[0]?.threadId ?? 0)).toBe(clock.now())
    // The thread goes on while the visit lasts; a visit lasts as long as pages are looked at.
    const more = await write('Dora', [{ name: 'Bob' }], { thread: 'T-1' }, front)
    expect(await newest()).toEqual([more])
    for (let n = 0; n < 3; n++) {
      clock.advance(20 * 60_000)
      expect(await count()).toBe(1)
    }
    // Half an hour later another one begins: what was there before is no longer new.
    const left = clock.now()
    clock.advance(hour)
    const last = await write('Dora', [{ name: 'Bob' }], {}, front)
    expect(await newest()).toEqual([last])
    expect((await readMarks(hub, local, ann)).since).toBe(left)
  })

  verifies('web.thread.opens', 'know the first new message of a thread, also before those that are shown', async () => {
    const { hub, write } = await openPages(open)
    await write('Dora', [{ name: 'Bob' }], { thread: 'T-1' }, front)
    const look = async () => readMarks(hub, local, ann)
    await markSeen(hub, local, await look(), (await listAllMail(hub, local, { limit: 1 })).items)
    await sendAsOverseer(hub, namedOperator('Ann'), {
      project: front,
      recipients: ['Dora'],
      subject: 'S',
      body: 'mine',
      thread: 'T-1',
    })
    const first = await write('Bob', [{ name: 'Dora' }], { thread: 'T-1' }, front)
    await write('Dora', [{ name: 'Bob' }], { thread: 'T-1' }, front)
    const { items } = await listAllMail(hub, local, { limit: 4 })
    const missed = async (shown: typeof items) => findMissed(hub, local, await look(), shown)
    expect([await missed(items.slice(0, 1)), await missed(items.slice(1))]).toEqual([first, undefined])
    expect([await missed(items.slice(3)), await missed([])]).toEqual([undefined, undefined])
    await hub.close()
  })

  verifies('web.new.words', 'count messages once, those in sight, and not the own words of a person', async () => {
    const { hub, write, keyed } = await openPages(open)
    const dora = await keyed('Dora', front)
    await write('Ann', [{ name: 'Bob' }, { name: 'Cleo' }])
    await write('Bob', [{ name: 'Dora' }], {}, front)
    const counts = async (person = ann, caller: Caller = operator) =>
      countNewTo(hub, caller, await readMarks(hub, caller, person))
    expect((await counts()).total).toBe(2)
    expect([...(await counts()).projects.values()]).toEqual([1, 1])
    // An agent with a key sees its own mail, and counts no other.
    expect((await counts(bob, dora)).total).toBe(1)
    await sendAsOverseer(hub, namedOperator('Ann'), {
      project: front,
      recipients: ['Dora'],
      subject: 'Stop',
      body: 'Wait.',
    })
    const [{ author } = { author: '' }] = (await listAllMail(hub, operator, { limit: 1 })).items
    expect([author, (await counts()).total, (await counts(bob)).total]).toEqual(['Ann', 2, 3])
  })

  verifies(
    'mail.search.unread',
    'is:unread means the agent of the connection, if the caller may act as it',
    async () => {
      const { hub, write } = await openPages(open)
      const toBob = await write('Dora', [{ name: 'Bob' }], {}, front)
      const asked = async (as?: string) =>
        (await searchProject(hub, local, front, { query: 'is:unread', as })).hits.map(({ id }) => id)
      expect(await asked('Bob')).toEqual([toBob])
      expect(await asked('Dora')).toEqual([])
      expect(await asked()).toContain(toBob)
    },
  )
})
