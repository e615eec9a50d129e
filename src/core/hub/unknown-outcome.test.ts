/** Commits that nobody answered: a message is not sent twice, and one that was taken is not lost. */
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, now, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { Unsure } from '../../db/faults.ts'
import { type Db, readingBy } from '../../db/port.ts'
import { take } from '../mail/take.ts'
import { send } from '../messages/send.ts'
import type { Hub } from './hub.ts'

/** Loses the answer to the next commit: before it was done, or after. */
function forgetful(db: Db) {
  let next: 'before' | 'after' | undefined
  const losing: Db = {
    ...readingBy(db, (query) => db.all(query)),
    long: db.long,
    snapshot: (look) => db.snapshot(look),
    async tx(work, options) {
      const lost = next
      next = undefined
      if (lost === 'before') throw new Unsure(new Error('lost'))
      const value = await db.tx(work, options)
      if (lost === 'after') throw new Unsure(new Error('lost'))
      return value
    },
    listen: (wake) => db.listen(wake),
    announce: (channels) => db.announce(channels),
    check: () => db.check(),
    close: () => db.close(),
  }
  return {
    db: losing,
    lose(when: 'before' | 'after') {
      next = when
    },
  }
}

eachEngine('A commit without an answer', (open) => {
  const [ann, bob] = [as('ann'), as('bob')]

  async function begin() {
    const { db, lose } = forgetful(await (await open()).connect())
    const hub = await openTestHub(db)
    await send(hub, ann, { to: [{ name: 'bob' }], body: 'first' })
    expect((await take(hub, bob, now))?.mail.body).toBe('first')
    return { hub, lose }
  }

  const rest = async (hub: Hub) => {
    const bodies: string[] = []
    for (let taken = await take(hub, bob, now); taken !== undefined; taken = await take(hub, bob, now))
      bodies.push(taken.mail.body)
    return bodies
  }

  for (const when of ['before', 'after'] as const) {
    verifies('serve.failover.once', `a message lost ${when} its commit is sent once`, async () => {
      const { hub, lose } = await begin()
      lose(when)
      const sent = await send(hub, ann, { to: [{ name: 'bob' }], body: 'second' })
      expect(sent).toMatchObject({ duplicate: false, deliveries: [{ agent: { name: 'bob' } }] })
      expect(await rest(hub)).toEqual(['second'])
      await hub.close()
    })

    verifies('serve.failover.once', `a message whose take is lost ${when} its commit comes once`, async () => {
      const { hub, lose } = await begin()
      for (const body of ['second', 'third']) await send(hub, ann, { to: [{ name: 'bob' }], body })
      lose(when)
      expect((await take(hub, bob, now))?.mail.body).toBe('second')
      expect(await rest(hub)).toEqual(['third'])
      await hub.close()
    })
  }
})
