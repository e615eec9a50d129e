/** Answering who asks for contact, on both engines: for how long it holds, and who may change it. */
import { expect, test } from 'vitest'
import { day, openContacts, outcome } from '../../../test/support/contacts.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { local } from '../access/callers.ts'
import { whois } from '../agents/profiles.ts'
import { listInbox } from '../mail/inbox.ts'
import { acknowledgeMessage, markRead } from '../mail/receipts.ts'
import { requestContact, respondContact } from './requests.ts'

eachEngine('Answers to contact requests', (open) => {
  const start = async (contacts: Parameters<typeof openContacts>[1] = {}) =>
    openContacts(await (await open()).connect(), contacts)

  verifies('mail.contact.respond', 'an answer holds for the time it says, by the clock alone', async () => {
    const { clock, people, ask, answer, mail } = await start({ handshake: false })
    await people({ Ann: 'auto', Bob: 'contacts_only' })
    await ask('Ann', 'Bob')
    expect(await answer('Bob', 'Ann', true, 60_000)).toMatchObject({
      status: 'approved',
      expiresAt: clock.now() + 60_000,
    })
    clock.advance(59_999)
    expect(await mail('Ann', 'Bob')).toBe('delivered')
    clock.advance(1)
    expect(await mail('Ann', 'Bob')).toBe('CONTACT_REQUIRED')
    await ask('Ann', 'Bob')
    expect(await answer('Bob', 'Ann', true)).toMatchObject({ expiresAt: clock.now() + 7 * day })
  })

  verifies('mail.contact.respond', 'only what was asked, and still stands, is answered', async () => {
    const { clock, people, ask, answer } = await start()
    await people({ Ann: 'auto', Bob: 'auto' })
    for (const accept of [true, false])
      await expect(answer('Bob', 'Ann', accept)).rejects.toMatchObject({
        code: 'CONTACT_NOT_FOUND',
        hint: expect.stringContaining('name its project if that is not yours'),
      })
    await ask('Ann', 'Bob', 1000)
    // The one who asked does not answer itself.
    expect(await outcome(answer('Ann', 'Bob', true))).toBe('CONTACT_NOT_FOUND')
    clock.advance(1000)
    expect(await outcome(answer('Bob', 'Ann', true))).toBe('CONTACT_NOT_FOUND')
  })

  verifies('mail.contact.respond', 'to accept who has accepted oneself changes nothing', async () => {
    const { people, ask, answer, inbox, links } = await start()
    await people({ Ann: 'auto', Bob: 'auto' })
    await ask('Bob', 'Ann')
    const link = await answer('Ann', 'Bob', true)
    expect(await ask('Ann', 'Bob')).toEqual(link)
    expect(await answer('Bob', 'Ann', true)).toEqual(link)
    expect([await links(), await inbox('Bob')]).toEqual([['Bob>Ann approved'], []])
  })

  verifies('mail.contact.lasting', 'automatic contact can be made to last, from either side', async () => {
    for (const [first, second] of [
      ['Ann', 'Bob'],
      ['Bob', 'Ann'],
    ] as const) {
      const { clock, people, mail, ask, answer, inbox } = await start()
      await people({ Ann: 'auto', Bob: 'auto' })
      await mail(first, second, { handshake: true })
      await ask('Ann', 'Bob')
      expect(await inbox('Bob')).toContain('Contact request from Ann')
      await ask('Ann', 'Bob')
      expect((await inbox('Bob')).filter((subject) => subject.startsWith('Contact'))).toHaveLength(1)
      // Meanwhile it goes on, and once it is agreed it holds as long as was said.
      expect(await mail('Ann', 'Bob')).toBe('delivered')
      expect(await answer('Bob', 'Ann', true, 30 * day)).toMatchObject({
        status: 'approved',
        expiresAt: clock.now() + 30 * day,
      })
      clock.advance(29 * day)
      expect(await mail('Ann', 'Bob')).toBe('delivered')
    }
  })

  verifies(['mail.contact.denied', 'mail.contact.respond'], 'a denial holds until it is taken back', async () => {
    const { clock, people, ask, answer, mail, inbox, links } = await start()
    await people({ Ann: 'auto', Bob: 'auto' })
    await ask('Ann', 'Bob')
    expect(await answer('Bob', 'Ann', false)).toMatchObject({ status: 'denied', expiresAt: undefined })
    clock.advance(1000 * day)
    expect(await mail('Ann', 'Bob', { handshake: true })).toBe('CONTACT_BLOCKED')
    expect(await outcome(ask('Ann', 'Bob'))).toBe('CONTACT_BLOCKED')
    expect([await links(), await inbox('Bob')]).toEqual([['Ann>Bob denied'], ['Contact request from Ann']])
    await answer('Bob', 'Ann', true)
    expect(await mail('Ann', 'Bob')).toBe('delivered')
  })

  verifies(
    'mail.contact.denied',
    'contact that was once wanted can be denied, and nobody but its owner lifts that',
    async () => {
      const { clock, people, ask, answer, mail } = await start({ autoMs: 1000 })
      await people({ Ann: 'auto', Bob: 'auto' })
      await ask('Bob', 'Ann')
      await answer('Ann', 'Bob', true)
      await answer('Bob', 'Ann', false)
      clock.advance(5000)
      expect(await mail('Ann', 'Bob')).toBe('CONTACT_BLOCKED')
      // To accept once more what Bob asked for then does not help Ann.
      await answer('Ann', 'Bob', true)
      expect(await mail('Ann', 'Bob')).toBe('CONTACT_BLOCKED')
      // Bob still may write, as Ann agreed; and when Bob takes it back, Ann may too.
      expect(await mail('Bob', 'Ann')).toBe('delivered')
      expect(await answer('Bob', 'Ann', true)).toMatchObject({ status: 'expired' })
      expect(await mail('Ann', 'Bob')).toBe('delivered')
    },
  )

  verifies('mail.contact.denied', 'whoever asks for contact has thought better of denying it', async () => {
    const { people, ask, answer, mail } = await start({ handshake: false, autoMs: 1000 })
    await people({ Ann: 'contacts_only', Bob: 'contacts_only' })
    await ask('Ann', 'Bob')
    await answer('Bob', 'Ann', false)
    await ask('Bob', 'Ann')
    await answer('Ann', 'Bob', true)
    expect([await mail('Ann', 'Bob'), await mail('Bob', 'Ann')]).toEqual(['delivered', 'delivered'])
  })

  test('automatic contact cannot be made to last by the agent it was made with', async () => {
    const { clock, people, mail, answer } = await start()
    await people({ Ann: 'contacts_only', Bob: 'auto' })
    await mail('Ann', 'Bob')
    await answer('Bob', 'Ann', true, 1000 * day)
    await answer('Bob', 'Ann', false)
    await answer('Bob', 'Ann', true, 1000 * day)
    clock.advance(2 * day)
    expect(await mail('Bob', 'Ann')).toBe('CONTACT_REQUIRED')
  })

  verifies('mail.contact.confirmed', 'whoever answers owes no acknowledgement of the request', async () => {
    const { hub, as, people, ask, mail, answer } = await start()
    await people({ Ann: 'auto', Bob: 'contacts_only', Cid: 'auto', Dan: 'auto' })
    await ask('Ann', 'Bob')
    await mail('Cid', 'Bob')
    await ask('Dan', 'Bob')
    await acknowledgeMessage(hub, as('Bob'), 3)
    const owed = async () =>
      (await listInbox(hub, as('Bob'), { part: 'unacked', limit: 9 })).messages.map(({ from }) => from.name)
    const unread = async () => (await whois(hub, local, '/srv/project', 'Bob')).unread
    expect([await owed(), await unread()]).toEqual([['Cid', 'Ann'], 2])
    await answer('Bob', 'Ann', true)
    expect([await owed(), await unread()]).toEqual([['Cid'], 1])
    await markRead(hub, as('Bob'), 2)
    await answer('Bob', 'Cid', false)
    await answer('Bob', 'Dan', true)
    expect([await owed(), await unread()]).toEqual([[], 0])
    // Other mail of a contact still waits for its acknowledgement.
    await mail('Ann', 'Bob', { ackRequired: true })
    await answer('Bob', 'Ann', true)
    expect(await owed()).toEqual(['Ann'])
  })

  verifies('mail.contact.respond', 'who asked from another project is named with it', async () => {
    const { hub, as, people } = await start()
    await people({ Ann: 'auto' })
    await people({ Ann: 'auto', Bob: 'auto' }, '/srv/other')
    const { from } = await requestContact(hub, as('Ann'), { to: { name: 'Bob', project: '/srv/other' } })
    const bob = as('Bob', '/srv/other')
    await expect(respondContact(hub, bob, { from: { name: 'Ann' }, accept: true })).rejects.toMatchObject({
      code: 'CONTACT_NOT_FOUND',
      reason: 'asked_elsewhere',
      hint: expect.stringContaining(`of the project ${from.project}`),
    })
    const answered = await respondContact(hub, bob, { from: { name: 'Ann', project: from.project }, accept: true })
    expect(answered).toMatchObject({ status: 'approved', from })
  })
})
