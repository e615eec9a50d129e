/** Reasons that let a message through without permission, on both engines, and the ways somebody might feign them. */
import { expect } from 'vitest'
import { day, openContacts, outcome } from '../../../test/support/contacts.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { release, reserve } from '../leases/leases.ts'
import { listInbox } from '../mail/inbox.ts'
import { type Draft, send } from '../messages/send.ts'
import { setContactPolicy } from './links.ts'

eachEngine('Without permission', (open) => {
  /** Nobody shakes hands here, and what was written is soon forgotten: what passes, passes for its own reason. */
  const start = async (contacts: Parameters<typeof openContacts>[1] = {}) => {
    const world = await openContacts(await (await open()).connect(), { handshake: false, autoMs: 1000, ...contacts })
    const { hub, as, clock } = world
    return {
      ...world,
      /** Writes to `Ann cc:Bob bcc:Cid` whatever the policies are, and lets it become old. */
      async write(from: string, to: string, draft: Partial<Draft> = {}) {
        const addresses = to.split(' ').map((address) => {
          const [name = '', kind = 'to'] = address.split(':').toReversed()
          return { name, kind: kind as 'to' | 'cc' | 'bcc' }
        })
        const free = { ...hub, rules: { ...hub.rules, contacts: { ...hub.rules.contacts, enforced: false } } }
        const sent = await send(free, as(from), { to: addresses, body: 'words', ...draft })
        clock.advance(2000)
        return sent
      },
      be: (name: string, policy: 'open' | 'auto' | 'contacts_only' | 'block_all') =>
        setContactPolicy(hub, as(name), policy),
    }
  }

  verifies('mail.contact.answer', 'who was written to may answer in that thread and nowhere else', async () => {
    for (const policy of ['auto', 'contacts_only'] as const) {
      const { people, mail, write } = await start()
      await people({ Ann: 'open', Bea: 'open', Bob: policy, Cid: 'open' })
      await write('Bob', 'Cid', { thread: 'T' })
      expect(await mail('Ann', 'Bob', { thread: 'T' })).toBe('CONTACT_REQUIRED')
      await write('Bob', 'cc:Ann bcc:Bea', { thread: 'T' })
      for (const name of ['Ann', 'Bea', 'Cid']) {
        expect(await mail(name, 'Bob', { thread: 'T' })).toBe('delivered')
        expect(await mail(name, 'Bob', { thread: 'U', handshake: false })).toBe(
          policy === 'auto' ? 'delivered' : 'CONTACT_REQUIRED',
        )
      }
    }
  })

  verifies('mail.contact.answer', 'who was denied may still answer what it was asked', async () => {
    const { people, mail, write, ask, answer } = await start()
    await people({ Ann: 'auto', Bob: 'auto' })
    await ask('Ann', 'Bob')
    await answer('Bob', 'Ann', false)
    const { messageId } = await write('Bob', 'Ann')
    expect(await mail('Ann', 'Bob')).toBe('CONTACT_BLOCKED')
    expect(await mail('Ann', 'Bob', { replyTo: messageId })).toBe('delivered')
  })

  verifies('mail.contact.same-thread', 'those who share a thread reach each other in it', async () => {
    const { people, mail, write } = await start()
    await people({ Ann: 'auto', Bob: 'auto', Cid: 'auto', Dan: 'auto' })
    await write('Ann', 'Bob cc:Cid', { thread: 'T' })
    await write('Bob', 'Dan', { thread: 'T' })
    // Together addressed; brought in by one who was.
    expect(await mail('Cid', 'Bob', { thread: 'T' })).toBe('delivered')
    expect(await mail('Dan', 'Ann', { thread: 'T' })).toBe('delivered')
    expect(await mail('Cid', 'Dan', { thread: 'U' })).toBe('CONTACT_REQUIRED')
    expect(await mail('Cid', 'Dan')).toBe('CONTACT_REQUIRED')
  })

  verifies('mail.contact.same-thread', 'who began a thread reaches those who were brought into it', async () => {
    const { people, mail, write } = await start()
    await people({ Ann: 'auto', Bob: 'auto', Cid: 'auto', Late: 'auto' })
    await write('Ann', 'Bob', { thread: 'T' })
    expect(await mail('Ann', 'Cid', { thread: 'T' })).toBe('CONTACT_REQUIRED')
    await write('Bob', 'Cid', { thread: 'T' })
    await write('Late', 'Bob', { thread: 'T' })
    expect(await mail('Late', 'Cid', { thread: 'T' })).toBe('CONTACT_REQUIRED')
    expect(await mail('Ann', 'Cid', { thread: 'T' })).toBe('delivered')
  })

  verifies('mail.contact.same-thread', 'naming the key of a thread opens no door', async () => {
    const { clock, people, mail, write } = await start()
    await people({ Ann: 'auto', Bob: 'auto', Cid: 'auto', Mallory: 'open', Accomplice: 'open', Oz: 'open' })
    await write('Ann', 'Bob Oz', { thread: 'T' })
    const knock = async () => {
      clock.advance(2000)
      return [await mail('Mallory', 'Bob', { thread: 'T' }), await mail('Mallory', 'Ann', { thread: 'T' })]
    }
    const shut = ['CONTACT_REQUIRED', 'CONTACT_REQUIRED']
    expect(await knock()).toEqual(shut)
    expect(await mail('Mallory', 'Mallory', { thread: 'T' })).toBe('delivered')
    expect(await knock()).toEqual(shut)
    expect(await mail('Mallory', 'Oz', { thread: 'T' })).toBe('delivered')
    expect(await knock()).toEqual(shut)
    expect(await mail('Accomplice', 'Mallory', { thread: 'T' })).toBe('delivered')
    expect(await mail('Accomplice', 'Oz', { thread: 'T' })).toBe('delivered')
    expect(await knock()).toEqual(shut)
    // A blind copy makes nobody one of them, neither who got it nor for others to find out.
    await write('Ann', 'Bob bcc:Cid bcc:Mallory', { thread: 'T' })
    expect(await mail('Mallory', 'Bob', { thread: 'T' })).toBe('CONTACT_REQUIRED')
    expect(await mail('Bob', 'Cid', { thread: 'T' })).toBe('CONTACT_REQUIRED')
    // Once one of them answers, it is one of them.
    await write('Oz', 'Mallory', { thread: 'T' })
    expect(await knock()).toEqual(['delivered', 'delivered'])
  })

  verifies(
    'mail.contact.same-thread',
    'who takes mail from contacts only is not reached by a shared thread',
    async () => {
      const { people, mail, write } = await start()
      await people({ Ann: 'auto', Bob: 'contacts_only', Cid: 'auto' })
      await write('Ann', 'Bob Cid', { thread: 'T' })
      expect(await mail('Cid', 'Bob', { thread: 'T' })).toBe('CONTACT_REQUIRED')
    },
  )

  verifies(['mail.contact.same-thread', 'mail.contact.request'], 'a request for contact is no contact', async () => {
    const { clock, hub, as, people, mail, ask } = await start({ autoMs: day })
    await people({ Ann: 'auto', Bob: 'auto', Eve: 'auto' })
    await ask('Ann', 'Bob')
    const message = (await listInbox(hub, as('Bob'), { limit: 1, bodies: false })).messages[0]?.id
    const thread = String(message)
    expect(await mail('Ann', 'Bob')).toBe('CONTACT_REQUIRED')
    expect(await mail('Ann', 'Bob', { thread })).toBe('CONTACT_REQUIRED')
    expect(await mail('Ann', 'Bob', { replyTo: Number(message) })).toBe('CONTACT_REQUIRED')
    // Nor can somebody be brought in by it.
    await mail('Ann', 'Eve', { thread, handshake: true })
    expect(await mail('Eve', 'Bob', { thread })).toBe('CONTACT_REQUIRED')
    clock.advance(2 * day)
    expect(await mail('Bob', 'Ann', { thread, handshake: true })).toBe('delivered')
    expect(await mail('Ann', 'Bob', { thread })).toBe('delivered')
  })

  verifies('mail.contact.recent', 'recent mail, either way, lets more of it through until it is old', async () => {
    const { clock, people, mail, write, be } = await start({ autoMs: 5000 })
    await people({ Ann: 'open', Bob: 'open', Cid: 'contacts_only', Eve: 'auto' })
    await write('Ann', 'bcc:Bob cc:Cid')
    await be('Ann', 'auto')
    await be('Bob', 'auto')
    clock.advance(2999)
    expect(await mail('Ann', 'Bob')).toBe('delivered')
    expect(await mail('Bob', 'Ann')).toBe('delivered')
    expect(await mail('Eve', 'Bob')).toBe('CONTACT_REQUIRED')
    expect(await mail('Ann', 'Cid')).toBe('CONTACT_REQUIRED')
    clock.advance(4999)
    expect(await mail('Bob', 'Ann')).toBe('delivered')
    clock.advance(5000)
    expect(await mail('Ann', 'Bob')).toBe('CONTACT_REQUIRED')
    expect(await mail('Bob', 'Ann')).toBe('CONTACT_REQUIRED')
  })

  verifies('mail.contact.recent', 'recent contact is written down where contact may make itself', async () => {
    for (const handshake of [true, false]) {
      const { people, mail, write, be, links } = await start({ handshake, retry: false, autoMs: day })
      await people({ Ann: 'open', Bob: 'open' })
      await write('Bob', 'Ann')
      await be('Bob', 'auto')
      expect(await mail('Ann', 'Bob')).toBe('delivered')
      expect(await links()).toEqual(handshake ? ['Ann>Bob approved'] : [])
    }
  })

  verifies('mail.contact.leases', 'overlapping leases let mail through while both are active', async () => {
    const { hub, as, clock, people, mail } = await start()
    await people({ Ann: 'auto', Bob: 'auto', Cid: 'auto', Dan: 'contacts_only' })
    await people({ Far: 'auto' }, '/srv/other')
    const hold = (name: string, pattern: string, project?: string) =>
      reserve(hub, as(name, project), {
        patterns: [pattern],
        exclusive: false,
        reason: '',
        ttlMs: 60_000,
        onConflict: 'grant',
      })
    await hold('Ann', 'src/**')
    expect(await mail('Ann', 'Bob')).toBe('CONTACT_REQUIRED')
    await hold('Bob', 'src/api/*.ts')
    await hold('Cid', 'docs/**')
    await hold('Dan', 'src/**')
    await hold('Far', 'src/**', '/srv/other')
    expect(await mail('Ann', 'Cid')).toBe('CONTACT_REQUIRED')
    expect(await mail('Ann', 'Dan')).toBe('CONTACT_REQUIRED')
    const far = [{ name: 'Far', project: '/srv/other' }]
    expect(await mail('Ann', 'Far', { to: far })).toBe('CONTACT_REQUIRED')
    expect([await mail('Ann', 'Bob'), await mail('Bob', 'Ann')]).toEqual(['delivered', 'delivered'])
    clock.advance(60_001)
    expect(await mail('Ann', 'Bob')).toBe('CONTACT_REQUIRED')
    await hold('Ann', 'src/**')
    await hold('Bob', 'src/**')
    await release(hub, as('Bob'), {})
    expect(await mail('Ann', 'Bob')).toBe('CONTACT_REQUIRED')
  })

  verifies('mail.contact.block-all', 'nothing reaches an agent with block_all', async () => {
    const { hub, as, people, mail, write, be, ask, answer, links, inbox } = await start({
      handshake: true,
      autoMs: day,
    })
    await people({ Ann: 'open', Bob: 'open', Cid: 'open' })
    await ask('Ann', 'Bob')
    await answer('Bob', 'Ann', true)
    const { messageId } = await write('Bob', 'Ann Cid', { thread: 'T' })
    await write('Cid', 'Bob Ann', { thread: 'T' })
    for (const name of ['Ann', 'Bob'])
      await reserve(hub, as(name), {
        patterns: ['src/**'],
        exclusive: false,
        reason: '',
        ttlMs: day,
        onConflict: 'grant',
      })
    await be('Bob', 'block_all')
    const [held, linked] = [await inbox('Bob'), await links()]
    const attempts: Partial<Draft>[] = [
      {},
      { ackRequired: true, importance: 'urgent' },
      { replyTo: messageId },
      { thread: 'T' },
      { thread: String(messageId) },
      { to: [{ name: 'Bob', kind: 'cc' }] },
      { to: [{ name: 'Bob', kind: 'bcc' }] },
      { to: [{ name: 'bob', project: '/srv/project' }] },
      { handshake: true },
      { clientId: 'x' },
    ]
    for (const draft of attempts) expect(await mail('Ann', 'Bob', draft)).toBe('CONTACT_BLOCKED')
    for (const name of ['Ann', 'Cid']) expect(await outcome(ask(name, 'Bob'))).toBe('CONTACT_BLOCKED')
    const sent = await send(hub, as('Ann'), {
      to: [{ name: 'Cid' }, { name: 'Bob', kind: 'bcc' }],
      body: 'x',
      replyTo: messageId,
    })
    expect(sent.blocked.map(({ code }) => code)).toEqual(['CONTACT_BLOCKED'])
    expect([await inbox('Bob'), await links()]).toEqual([held, linked])
    // It may write itself; that is no permission to answer.
    const own = await write('Bob', 'Ann')
    expect(await mail('Ann', 'Bob', { replyTo: own.messageId })).toBe('CONTACT_BLOCKED')
  })
})
