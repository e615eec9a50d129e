/** Asking for contact, on both engines: messages, what is listed, other projects, races. */

import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { day, openContacts, outcome } from '../../../test/support/contacts.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { listContacts, setContactPolicy } from '../contacts/links.ts'
import { inside } from '../hub/hub.ts'
import { listInbox } from '../mail/inbox.ts'
import { send } from '../messages/send.ts'
import { requestContact, respondContact } from './requests.ts'

const subject = 'Contact request from Ann'

eachEngine('Contact requests', (open) => {
  const start = async (contacts: Parameters<typeof openContacts>[1] = {}) =>
    openContacts(await (await open()).connect(), contacts)

  verifies('mail.contact.request', 'a request puts a message into the inbox that wants to be confirmed', async () => {
    const { hub, as, clock, people, ask } = await start()
    await people({ Ann: 'auto', Bob: 'contacts_only' })
    const link = await ask('Ann', 'Bob')
    const slug = link.from.project
    expect(link).toEqual({
      id: expect.any(Number),
      from: { name: 'Ann', project: slug },
      to: { name: 'Bob', project: slug },
      status: 'pending',
      reason: 'we should talk',
      createdAt: clock.now(),
      updatedAt: clock.now(),
      expiresAt: clock.now() + 7 * day,
    })
    expect((await listInbox(hub, as('Bob'), { limit: 5, bodies: true })).messages).toMatchObject([
      { subject, ackRequired: true, body: expect.stringMatching(/we should talk.*respond_contact/s) },
    ])
    const [{ body = '' } = {}] = (await listInbox(hub, as('Bob'), { limit: 5, bodies: true })).messages
    expect(body).toMatch(/POST \/connections\/\{connection_id\}\/approve or \/deny, or mailbox_approve/)
  })

  verifies('mail.contact.request', 'whoever asks again and again sends one message a day', async () => {
    const { clock, people, ask, mail, inbox, links } = await start({ autoMs: 1000 })
    await people({ Ann: 'auto', Bob: 'contacts_only' })
    await ask('Ann', 'Bob')
    const first = await ask('Ann', 'Bob', 1000)
    expect(first.expiresAt).toBe(clock.now() + 1000)
    // Neither a request that ends at once nor a send in between makes room for another message.
    for (let n = 0; n < 5; n++) {
      clock.advance(2000)
      await mail('Ann', 'Bob')
      clock.advance(2000)
      await ask('Ann', 'Bob', 1000)
    }
    expect([await inbox('Bob'), await links()]).toEqual([[subject], ['Ann>Bob pending']])
    clock.advance(day)
    await ask('Ann', 'Bob')
    expect(await inbox('Bob')).toEqual([subject, subject])
  })

  verifies(
    ['mail.contact.request', 'mail.contact.filed'],
    'a request that a send has filed has its message, and asking the same day adds none',
    async () => {
      const { clock, people, mail, ask, inbox } = await start()
      await people({ Ann: 'auto', Bob: 'contacts_only' })
      await mail('Ann', 'Bob')
      expect(await inbox('Bob')).toEqual([subject])
      clock.advance(day - 1)
      expect(await ask('Ann', 'Bob')).toMatchObject({ status: 'pending', reason: 'we should talk' })
      expect(await inbox('Bob')).toEqual([subject])
      clock.advance(day)
      await ask('Ann', 'Bob')
      expect(await inbox('Bob')).toEqual([subject, subject])
    },
  )

  verifies(['mail.contact.request', 'mail.contact.filed'], 'sending leaves a request that waits as it is', async () => {
    const { hub, clock, people, ask, mail } = await start()
    await people({ Ann: 'auto', Bob: 'contacts_only' })
    await ask('Ann', 'Bob')
    const rows = () => hub[inside].db.all(sql`SELECT * FROM contacts`)
    const before = await rows()
    clock.advance(1000)
    expect(await mail('Ann', 'Bob')).toBe('CONTACT_REQUIRED')
    expect(await rows()).toEqual(before)
  })

  verifies('mail.contact.request', 'once contact has ended, the next request gets a message at once', async () => {
    const { clock, people, ask, answer, inbox } = await start()
    await people({ Ann: 'auto', Bob: 'contacts_only' })
    await ask('Ann', 'Bob')
    await answer('Bob', 'Ann', true, 1000)
    clock.advance(1000)
    expect(await ask('Ann', 'Bob')).toMatchObject({ status: 'pending' })
    expect(await inbox('Bob')).toEqual([subject, subject])
  })

  verifies('mail.contact.request', 'contact that is approved stays approved, whoever asks again', async () => {
    const { people, ask, answer, inbox, links } = await start()
    await people({ Ann: 'auto', Bob: 'contacts_only' })
    await ask('Ann', 'Bob')
    const approved = await answer('Bob', 'Ann', true, 60_000)
    expect(await ask('Ann', 'Bob')).toEqual(approved)
    expect(await ask('Bob', 'Ann')).toEqual(approved)
    expect([await inbox('Bob'), await inbox('Ann'), await links()]).toEqual([[subject], [], ['Ann>Bob approved']])
  })

  verifies('mail.contact.request', 'nobody asks who is not there, oneself, or where there is no room', async () => {
    const { hub, as, people, ask, links } = await start()
    await people({ Ann: 'auto', Bob: 'auto' })
    await expect(ask('Ann', 'Nobody')).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
      reason: 'no_target',
    })
    const lost = requestContact(hub, as('Ann'), { to: { name: 'Bob', project: '/srv/nowhere' } })
    await expect(lost).rejects.toMatchObject({ code: 'PROJECT_NOT_FOUND', reason: 'elsewhere' })
    expect(await outcome(ask('Nobody', 'Ann'))).toBe('AGENT_NOT_FOUND')
    expect(await outcome(ask('Ann', 'ann'))).toBe('INVALID_ARGUMENT')
    await hub[inside].db.tx((tx) => tx.all(sql`UPDATE agents SET unread = 10000 WHERE name = 'Bob'`))
    expect(await outcome(ask('Ann', 'Bob'))).toBe('MAILBOX_FULL')
    expect(await links()).toEqual([])
  })

  verifies('mail.contact.list', 'both see the link, each from its side, and when it has expired', async () => {
    const { hub, as, clock, people, ask, answer } = await start()
    await people({ Ann: 'auto', Bob: 'auto', Cid: 'auto' })
    await ask('Ann', 'Bob')
    clock.advance(1)
    await ask('Cid', 'Ann', 1000)
    clock.advance(1)
    await answer('Bob', 'Ann', true)
    const seen = async (name: string) =>
      (await listContacts(hub, as(name))).contacts.map(
        ({ direction, from, to, status }) => `${direction} ${from.name}>${to.name} ${status}`,
      )
    expect(await seen('Ann')).toEqual(['outgoing Ann>Bob approved', 'incoming Cid>Ann pending'])
    expect(await seen('Bob')).toEqual(['incoming Ann>Bob approved'])
    const page = async (name: string, before?: number) => {
      const { contacts, more } = await listContacts(hub, as(name), { before, limit: 1 })
      return { ids: contacts.map(({ id }) => id), more }
    }
    const first = await page('Ann')
    const last = await page('Ann', first.ids[0])
    expect([first.more, last.more, last.ids.length]).toEqual([true, false, 1])
    expect(last.ids).not.toEqual(first.ids)
    // The contact of others is no place in one's own list.
    expect(await page('Bob', last.ids[0])).toEqual({ ids: [], more: false })
    clock.advance(1000)
    expect(await seen('Cid')).toEqual(['outgoing Cid>Ann expired'])
    expect(await outcome(listContacts(hub, as('Nobody')))).toBe('AGENT_NOT_FOUND')
  })

  verifies('mail.contact.elsewhere', 'a plain name is the one approved contact of that name elsewhere', async () => {
    const { hub, as, clock, people, mail } = await start({ handshake: false })
    await people({ Ann: 'auto', Here: 'open' })
    await people({ Bob: 'contacts_only', Here: 'open' }, '/srv/other')
    await people({ Bob: 'contacts_only' }, '/srv/third')
    const befriend = async (name: string, project: string) => {
      await requestContact(hub, as('Ann'), { to: { name, project } })
      return respondContact(hub, as(name, project), {
        from: { name: 'Ann', project: '/srv/project' },
        accept: true,
        ttlMs: day,
      })
    }
    const link = await befriend('Bob', '/srv/other')
    await befriend('Here', '/srv/other')
    const reached = async (name: string) => {
      const { deliveries } = await send(hub, as('Ann'), { to: [{ name }], body: 'x' })
      return deliveries[0]?.agent.projectId
    }
    const projects = await hub[inside].db.all<{ id: number; slug: string }>(
      sql`SELECT id, slug FROM projects ORDER BY id`,
    )
    const idOf = (slug: string) => projects.find((project) => project.slug === slug)?.id
    expect(await reached('bob')).toBe(idOf(link.to.project))
    // One's own project comes first.
    expect(await reached('Here')).toBe(idOf(link.from.project))
    await befriend('Bob', '/srv/third')
    await expect(reached('Bob')).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      hint: expect.stringContaining(`Bob@${link.to.project}`),
    })
    expect(await mail('Ann', 'Bob', { to: [{ name: 'Bob', project: '/srv/other' }] })).toBe('delivered')
    clock.advance(day)
    expect(await reached('Bob').catch(({ code }) => code)).toBe('CONTACT_REQUIRED')
  })

  verifies('mail.contact.policy', 'a policy holds from the next message on', async () => {
    const { hub, as, people, mail } = await start()
    await people({ Ann: 'auto', Bob: 'auto' })
    expect(await mail('Ann', 'Bob')).toBe('delivered')
    expect(await setContactPolicy(hub, as('Bob'), 'block_all')).toMatchObject({
      name: 'Bob',
      contactPolicy: 'block_all',
    })
    expect(await mail('Ann', 'Bob')).toBe('CONTACT_BLOCKED')
    await setContactPolicy(hub, as('Bob'), 'open')
    expect(await mail('Ann', 'Bob')).toBe('delivered')
  })

  verifies('mail.contact.one-row', 'requests that race each other leave one link and one message', async () => {
    const database = await open()
    const worlds = [await openContacts(await database.connect()), await openContacts(await database.connect())] as const
    await worlds[0].people({ Ann: 'auto', Bob: 'contacts_only' })
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => {
        const world = worlds[n % 2 === 0 ? 0 : 1]
        return n % 5 === 4 ? world.mail('Ann', 'Bob') : world.ask('Ann', 'Bob')
      }),
    )
    expect([await worlds[0].links(), await worlds[0].inbox('Bob')]).toEqual([['Ann>Bob pending'], [subject]])
    for (const { hub } of worlds) await hub.close()
  })
})
