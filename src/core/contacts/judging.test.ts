/** Contact policies, on both engines: every policy with every kind of link, with and without a handshake. */

import type { Sql } from 'sql-template-tag'
import sql from 'sql-template-tag'
import { expect, test } from 'vitest'
import { day, openContacts, outcome } from '../../../test/support/contacts.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { verifies } from '../../../test/support/verifies.ts'
import type { Db } from '../../db/port.ts'
import type { ContactPolicy } from '../agents/agents.ts'
import { respondContact } from '../contact-requests/requests.ts'
import { inside } from '../hub/hub.ts'
import { type Draft, send } from '../messages/send.ts'
import { setContactPolicy } from './links.ts'

type World = Awaited<ReturnType<typeof openContacts>>

/** How Ann and Bob stand to each other before Ann writes to Bob; all of it two days old, older than recent contact. */
const states: Record<string, (world: Pick<World, 'ask' | 'answer'>) => Promise<unknown>> = {
  none: async () => {},
  pending: ({ ask }) => ask('Ann', 'Bob'),
  'pending that expired': ({ ask }) => ask('Ann', 'Bob', day),
  approved: async ({ ask, answer }) => {
    await ask('Ann', 'Bob')
    await answer('Bob', 'Ann', true)
  },
  'approved that expired': async ({ ask, answer }) => {
    await ask('Ann', 'Bob')
    await answer('Bob', 'Ann', true, day)
  },
  denied: async ({ ask, answer }) => {
    await ask('Ann', 'Bob')
    await answer('Bob', 'Ann', false)
  },
  'denied that expired': async ({ ask, answer }) => {
    await ask('Ann', 'Bob')
    await answer('Bob', 'Ann', false, day)
  },
  'pending the other way': ({ ask }) => ask('Bob', 'Ann'),
  'approved the other way': async ({ ask, answer }) => {
    await ask('Bob', 'Ann')
    await answer('Ann', 'Bob', true)
  },
  'denied the other way': async ({ ask, answer }) => {
    await ask('Bob', 'Ann')
    await answer('Ann', 'Bob', false)
  },
  'approved both ways, then denied by Bob': async ({ ask, answer }) => {
    await ask('Bob', 'Ann')
    await answer('Ann', 'Bob', true)
    await answer('Bob', 'Ann', false)
  },
}

const contact = ['approved', 'approved the other way']
const denial = ['denied', 'approved both ways, then denied by Bob']
const standing = ['pending', ...contact, ...denial]

const request = 'Contact request from Ann'

/** The rule as a table; `link` is the contact from Ann to Bob afterwards, where it changes. */
function expected(policy: ContactPolicy, state: string, { handshake, retry }: { handshake: boolean; retry: boolean }) {
  if (policy === 'open') return { outcome: 'delivered' }
  if (policy === 'block_all' || denial.includes(state)) return { outcome: 'CONTACT_BLOCKED' }
  if (contact.includes(state)) return { outcome: 'delivered' }
  if (policy === 'contacts_only')
    return { outcome: 'CONTACT_REQUIRED', ...(handshake && !standing.includes(state) && { link: 'Ann>Bob pending' }) }
  if (!handshake) return { outcome: 'CONTACT_REQUIRED' }
  return { outcome: retry ? 'delivered' : 'CONTACT_REQUIRED', link: 'Ann>Bob approved' }
}

/** Another Ann and another Bob for each case, so that one database does for all. */
async function pair(world: World, title: string) {
  const tag = title.replaceAll(/\W/g, '-')
  const own = (name: string) => `${name}-${tag}`
  await world.people({ [own('Ann')]: 'open', [own('Bob')]: 'open' })
  return {
    ...world,
    mail: () => world.mail(own('Ann'), own('Bob')),
    ask: (from: string, to: string, ttlMs?: number) => world.ask(own(from), own(to), ttlMs),
    answer: (me: string, from: string, accept: boolean, ttlMs?: number) =>
      world.answer(own(me), own(from), accept, ttlMs),
    links: async () =>
      (await world.links()).filter((link) => link.includes(`${tag}>`)).map((link) => link.replaceAll(`-${tag}`, '')),
    policy: (policy: ContactPolicy) => setContactPolicy(world.hub, world.as(own('Bob')), policy),
  }
}

/** How many statements have run in transactions from here on. */
function countStatements(db: Db): () => number {
  let count = 0
  const run = db.tx.bind(db)
  const counted =
    <Query, Result>(statement: (query: Query) => Result) =>
    (query: Query) => {
      count++
      return statement(query)
    }
  db.tx = (work) =>
    run((tx) =>
      work({
        dialect: tx.dialect,
        all: <Row>(query: Sql) => counted(() => tx.all<Row>(query))(query),
        insert: counted((query: Sql) => tx.insert(query)),
        change: counted((query: Sql) => tx.change(query)),
        enqueue: counted((query: Sql) => tx.enqueue(query)),
      }),
    )
  return () => count
}

eachEngine('Contact policies', (open) => {
  const start = async (contacts: Parameters<typeof openContacts>[1] = {}) =>
    openContacts(await (await open()).connect(), contacts)

  for (const policy of ['open', 'auto', 'contacts_only', 'block_all'] as const)
    verifies(
      ['mail.contact.order', 'mail.contact.both-ways', 'mail.contact.handshake', 'mail.contact.handshake-off'],
      `towards ${policy}, whatever the link, each handshake rule does what it says`,
      async () => {
        const db = await (await open()).connect()
        for (const handshake of [true, false])
          for (const retry of [true, false]) {
            const world = await openContacts(db, { handshake, retry })
            for (const [state, prepare] of Object.entries(states)) {
              const title = `${state}, handshake ${handshake}, retry ${retry}`
              const { mail, links, stored, ask, answer, policy: setPolicy } = await pair(world, title)
              await prepare({ ask, answer })
              await setPolicy(policy)
              world.clock.advance(2 * day)
              const [linksBefore, storedBefore] = [await links(), await stored()]
              const want = expected(policy, state, { handshake, retry })
              expect(`${title}: ${await mail()}`).toBe(`${title}: ${want.outcome}`)
              expect((await stored()) - storedBefore, title).toBe(want.outcome === 'delivered' ? 1 : 0)
              const kept = linksBefore.filter((link) => want.link === undefined || !link.startsWith('Ann>Bob'))
              expect(new Set(await links()), title).toEqual(new Set([...kept, ...(want.link ? [want.link] : [])]))
            }
          }
      },
    )

  verifies('mail.contact.unenforced', 'nobody is asked where policies are not enforced', async () => {
    const { people, mail, links } = await start({ enforced: false })
    await people({ Ann: 'auto', Bob: 'block_all', Cid: 'contacts_only' })
    expect([await mail('Ann', 'Bob'), await mail('Ann', 'Cid')]).toEqual(['delivered', 'delivered'])
    expect(await links()).toEqual([])
  })

  test('nobody needs permission to write to oneself', async () => {
    const { people, mail } = await start({ handshake: false })
    await people({ Ann: 'block_all' })
    expect(await mail('Ann', 'Ann')).toBe('delivered')
  })

  verifies('mail.contact.handshake', 'automatic contact lasts as long as it is used', async () => {
    const { hub, clock, people, mail } = await start()
    await people({ Ann: 'auto', Bob: 'auto' })
    const ends = async () =>
      (await hub[inside].db.all<{ at: number }>(sql`SELECT expires_at AS at FROM contacts`))[0]?.at
    const begun = clock.now()
    await mail('Ann', 'Bob')
    expect(await ends()).toBe(begun + day)
    clock.advance(day / 2)
    await mail('Ann', 'Bob')
    // A write with every message would cost more than it tells.
    expect(await ends()).toBe(begun + day)
    clock.advance(day / 3)
    await mail('Bob', 'Ann')
    expect(await ends()).toBe(clock.now() + day)
  })

  test('an approval ends when the agent said, however often it is used', async () => {
    const { hub, clock, people, mail, ask, answer } = await start({ autoMs: 1000 })
    await people({ Ann: 'auto', Bob: 'auto' })
    await ask('Ann', 'Bob')
    const { expiresAt } = await answer('Bob', 'Ann', true, 60_000)
    clock.advance(59_900)
    expect(await mail('Ann', 'Bob')).toBe('delivered')
    expect(await hub[inside].db.all(sql`SELECT expires_at FROM contacts`)).toEqual([{ expires_at: expiresAt }])
    clock.advance(5000)
    expect(await mail('Ann', 'Bob', { handshake: false })).toBe('CONTACT_REQUIRED')
  })

  verifies(
    ['mail.contact.handshake', 'mail.contact.handshake-off'],
    'a send says for itself whether contact is made, whatever the rule is',
    async () => {
      const strict = await start({ handshake: false })
      await strict.people({ Ann: 'auto', Bob: 'auto' })
      expect(await strict.mail('Ann', 'Bob')).toBe('CONTACT_REQUIRED')
      expect(await strict.links()).toEqual([])
      expect(await strict.mail('Ann', 'Bob', { handshake: true })).toBe('delivered')

      const free = await start()
      await free.people({ Ann: 'auto', Bob: 'auto' })
      expect(await free.mail('Ann', 'Bob', { handshake: false })).toBe('CONTACT_REQUIRED')
      expect(await free.links()).toEqual([])
    },
  )

  verifies('mail.contact.handshake', 'where a send does not go on by itself, the second one arrives', async () => {
    const { people, mail, inbox } = await start({ retry: false })
    await people({ Ann: 'auto', Bob: 'auto' })
    expect([await mail('Ann', 'Bob'), await inbox('Bob')]).toEqual(['CONTACT_REQUIRED', []])
    expect(await mail('Ann', 'Bob')).toBe('delivered')
  })

  test('to ten known contacts a send takes as many statements as to ten who take all', async () => {
    const { hub, as, people } = await start()
    const open10 = Array.from({ length: 10 }, (_, n) => `Open${n}`)
    const auto10 = Array.from({ length: 10 }, (_, n) => `Auto${n}`)
    await people({ Ann: 'auto' })
    await people(Object.fromEntries(open10.map((name) => [name, 'open' as const])))
    await people(Object.fromEntries(auto10.map((name) => [name, 'auto' as const])))
    const statements = countStatements(hub[inside].db)
    const sending = async (names: string[]) => {
      const before = statements()
      await send(hub, as('Ann'), { to: names.map((name) => ({ name })), body: 'x' })
      return statements() - before
    }
    const toOpen = await sending(open10)
    // The first time: links, own leases, recent mail, the handshake; on SQLite policies too, and the counts of unread mail again;
    // on PostgreSQL the batch that did not let it through, and the look for its thread again.
    expect(await sending(auto10)).toBe(toOpen + 6)
    expect(await sending(auto10)).toBe(toOpen)
  })

  verifies('mail.contact.filed', 'sending to contacts_only files one request, with one message about it', async () => {
    const { hub, as, clock, people, mail, links, inbox, answer } = await start()
    await people({ Ann: 'auto', Bob: 'contacts_only' })
    await expect(send(hub, as('Ann'), { to: [{ name: 'Bob' }], body: 'x' })).rejects.toMatchObject({
      code: 'CONTACT_REQUIRED',
      message: expect.stringContaining('A contact request is filed'),
      reason: 'contact_asked',
      hint: 'Send again once Bob has accepted.',
    })
    await mail('Ann', 'Bob', { handshake: true })
    clock.advance(2 * day)
    await mail('Ann', 'Bob', { handshake: true })
    expect([await links(), await inbox('Bob')]).toEqual([['Ann>Bob pending'], [request]])
    // Once it has ended unanswered, the next message asks anew.
    clock.advance(6 * day)
    await mail('Ann', 'Bob', { handshake: true })
    expect([await links(), await inbox('Bob')]).toEqual([['Ann>Bob pending'], [request, request]])
    await answer('Bob', 'Ann', true)
    expect(await mail('Ann', 'Bob')).toBe('delivered')
  })

  verifies('mail.contact.asked-only', 'contacts_only does not let in whom only auto admitted', async () => {
    const { hub, as, people, mail, links, inbox, ask, answer } = await start()
    await people({ Ann: 'auto', Bob: 'auto', Cid: 'auto', Dan: 'auto' })
    // Cid asked to make it last, and has no answer; Dan has.
    for (const name of ['Ann', 'Cid', 'Dan']) expect(await mail(name, 'Bob')).toBe('delivered')
    for (const name of ['Cid', 'Dan']) await ask(name, 'Bob')
    await answer('Bob', 'Dan', true)
    const approved = ['Ann>Bob approved', 'Cid>Bob approved', 'Dan>Bob approved']
    expect(await links()).toEqual(approved)
    await setContactPolicy(hub, as('Bob'), 'contacts_only')
    for (const name of ['Ann', 'Cid'])
      for (const handshake of [false, true]) expect(await mail(name, 'Bob', { handshake })).toBe('CONTACT_REQUIRED')
    expect(await mail('Dan', 'Bob')).toBe('delivered')
    // Each has a request that Bob can answer, and a message about it, once.
    expect(await links()).toEqual(['Ann>Bob pending', 'Cid>Bob pending', 'Dan>Bob approved'])
    expect((await inbox('Bob')).filter((text) => text === request)).toHaveLength(1)
    for (const name of ['Ann', 'Cid']) await answer('Bob', name, true)
    expect(await links()).toEqual(approved)
    for (const name of ['Ann', 'Cid']) expect(await mail(name, 'Bob')).toBe('delivered')
  })

  verifies('mail.contact.partial', 'one blocked recipient does not stop the others', async () => {
    const { hub, as, people, links, inbox } = await start()
    await people({ Ann: 'auto', Bob: 'block_all', Cid: 'contacts_only', Dan: 'auto', Eve: 'open' })
    const sent = await send(hub, as('Ann'), {
      to: [{ name: 'Bob' }, { name: 'Eve' }, { name: 'Cid', kind: 'bcc' }, { name: 'Dan', kind: 'cc' }],
      body: 'hello',
    })
    expect(sent.deliveries.map(({ agent, kind }) => `${agent.name} ${kind}`)).toEqual(['Eve to', 'Dan cc'])
    expect(sent.blocked.map(({ recipient, code }) => `${recipient.agent.name} ${code}`)).toEqual([
      'Bob CONTACT_BLOCKED',
      'Cid CONTACT_REQUIRED',
    ])
    for (const { hint } of sent.blocked) expect(hint).toMatch(/\w/)
    expect(new Set(await links())).toEqual(new Set(['Ann>Dan approved', 'Ann>Cid pending']))
    expect([await inbox('Bob'), await inbox('Cid'), await inbox('Dan')]).toEqual([[], [request], ['hello']])
  })

  verifies(
    'mail.contact.partial',
    'if all are blocked, nothing is stored but the request and its message',
    async () => {
      const { hub, as, people, links, inbox, stored } = await start()
      await people({ Ann: 'auto', Bob: 'block_all', Cid: 'contacts_only' })
      const sending = send(hub, as('Ann'), { to: [{ name: 'Bob' }, { name: 'Cid' }], body: 'x', thread: 'T' })
      await expect(sending).rejects.toMatchObject({
        code: 'CONTACT_BLOCKED',
        message: expect.stringMatching(/Bob.*Cid/),
      })
      expect([await links(), await stored()]).toEqual([['Ann>Cid pending'], 0])
      expect([await inbox('Bob'), await inbox('Cid')]).toEqual([[], [request]])
      expect(await hub[inside].db.all(sql`SELECT id FROM threads WHERE key IS NOT NULL`)).toEqual([])
    },
  )

  verifies('mail.contact.one-row', 'handshakes that race each other on two connections make one link', async () => {
    const database = await open()
    const worlds = [await openContacts(await database.connect()), await openContacts(await database.connect())]
    const people = Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`Agent${n}`, 'auto' as const]))
    await worlds[0]?.people({ ...people, Bob: 'contacts_only' })
    const names = Object.keys(people)
    await Promise.all(
      Array.from({ length: 40 }, async (_, n) => {
        const world = worlds[n % 2] as World
        const from = names[n % 5] as string
        const to = [...names.filter((name) => name !== from), 'Bob'].map((name) => ({ name }))
        const sent = await send(world.hub, world.as(from), { to: n % 3 === 0 ? to : to.toReversed(), body: `${n}` })
        expect(sent.blocked.map(({ recipient }) => recipient.agent.name)).toEqual(['Bob'])
      }),
    )
    const links = (await worlds[0]?.links()) ?? []
    expect(new Set(links).size).toBe(links.length)
    const pairs = new Set(links.map((link) => link.split(' ')[0]?.split('>').toSorted().join(' ')))
    expect(pairs.size).toBe(10 + 5)
    const asked = (await worlds[0]?.inbox('Bob')) ?? []
    expect(asked.toSorted()).toEqual(names.map((name) => `Contact request from ${name}`))
    for (const { hub } of worlds) await hub.close()
  })

  verifies('mail.contact.border', 'across projects a message makes no contact: it files a request', async () => {
    const { hub, as, clock, people, links, inbox } = await start()
    await people({ Ann: 'auto', Dan: 'auto' })
    await people({ Bob: 'auto', Cid: 'open' }, '/srv/other')
    const [ann, bob, home] = [as('Ann'), as('Bob', '/srv/other'), '/srv/project']
    const write = (from: typeof ann, name: string, project: string, draft: Partial<Draft> = {}) =>
      outcome(send(hub, from, { to: [{ name, project }], body: 'words', ...draft }))
    expect(await write(ann, 'Bob', '/srv/other', { handshake: true })).toBe('CONTACT_REQUIRED')
    expect(await write(ann, 'Bob', '/srv/other')).toBe('CONTACT_REQUIRED')
    expect([await links(), await inbox('Bob')]).toEqual([['Ann>Bob pending'], [request]])
    await expect(
      send(hub, as('Dan'), { to: [{ name: 'Bob', project: '/srv/other' }], body: 'x', handshake: false }),
    ).rejects.toMatchObject({ reason: 'contact_only', message: expect.stringContaining('another project') })
    expect(await write(ann, 'Cid', '/srv/other')).toBeUndefined()
    // Mail that passed because one of the two is open is no ground to write to the other out of the blue.
    await setContactPolicy(hub, ann, 'open')
    await send(hub, bob, { to: [{ name: 'Ann', project: home }], body: 'one', thread: 'T-1' })
    expect(await write(ann, 'Bob', '/srv/other')).toBe('CONTACT_REQUIRED')
    expect(await write(ann, 'Bob', '/srv/other', { thread: 'T-1' })).toBeUndefined()
    // An agent openly brought into the thread may write to all in it, from any project.
    await send(hub, ann, { to: [{ name: 'Bob', project: '/srv/other' }, { name: 'Dan' }], body: 'two', thread: 'T-1' })
    expect(await write(as('Dan'), 'Bob', '/srv/other', { thread: 'T-1' })).toBeUndefined()
    expect(await write(as('Dan'), 'Bob', '/srv/other')).toBe('CONTACT_REQUIRED')
    await respondContact(hub, bob, { from: { name: 'Ann', project: home }, accept: true })
    clock.advance(2 * day)
    expect(await write(ann, 'Bob', '/srv/other')).toBeUndefined()
    expect(await links()).toContain('Ann>Bob approved')
    await hub.close()
  })

  verifies('mail.contact.border', 'automatic contact of former days ends where a border is', async () => {
    const { hub, as, clock, people, links } = await start()
    await people({ Ann: 'auto' })
    await people({ Bob: 'auto' }, '/srv/other')
    const write = () => outcome(send(hub, as('Ann'), { to: [{ name: 'Bob', project: '/srv/other' }], body: 'x' }))
    await write()
    await hub[inside].db.tx((tx) =>
      tx.all(sql`UPDATE contacts SET status = 'approved', origin = 'automatic', expires_at = ${clock.now() + 1000}`),
    )
    expect(await write()).toBeUndefined()
    clock.advance(1000)
    expect([await write(), await links()]).toEqual(['CONTACT_REQUIRED', ['Ann>Bob pending']])
    await hub.close()
  })
})
