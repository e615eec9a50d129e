/** How people steer agents, on both engines. */
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { now, registered } from '../../../test/support/hub.ts'
import { asked } from '../../../test/support/leases.ts'
import { back, front, openPages } from '../../../test/support/pages.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { local, operator, person } from '../access/callers.ts'
import { whois } from '../agents/profiles.ts'
import { requestContact } from '../contact-requests/requests.ts'
import { setContactPolicy } from '../contacts/links.ts'
import { type Hub, inside } from '../hub/hub.ts'
import { reserve } from '../leases/leases.ts'
import { freeLeases } from '../mail/freeing.ts'
import { listInbox } from '../mail/inbox.ts'
import { acknowledgeMessage } from '../mail/receipts.ts'
import { take } from '../mail/take.ts'
import { decideContact, markReadFor, remind } from './decisions.ts'
import { listAddressable, sendAsOverseer } from './overseer.ts'
import { answerThread, listAnswers, setTopicStatus } from './person-answers.ts'
import { decideRelated } from './related.ts'
import { showThread } from './threads.ts'

eachEngine('Steering', (open) => {
  verifies('web.overseer.identity', 'mail to people makes HumanOverseer as it is', async () => {
    const { hub, write } = await openPages(open)
    await write('Ann', [{ name: 'human-overseer' }])
    expect(await whois(hub, operator, back, 'HumanOverseer')).toMatchObject({
      name: 'HumanOverseer',
      program: 'WebUI',
      model: 'Human',
      contactPolicy: 'open',
    })
    await hub.close()
  })

  verifies('web.access.steering', 'only people steer', async () => {
    const { hub, keyed } = await openPages(open)
    const { granted } = await reserve(hub, registered('Ann', back), { ...asked, patterns: ['src/a.ts', 'src/b.ts'] })
    const [one, two] = granted.map(({ id }) => id)
    const ann = await keyed('Ann')
    const free = (caller: typeof local, id = 0) => freeLeases(hub, caller, back, { ids: [id], patterns: [] })
    for (const caller of [local, ann]) await expect(free(caller, one)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await free(person, one)).toMatchObject([{ agent: 'Ann', told: true }])
    expect(await free(operator, two)).toMatchObject([{ agent: 'Ann', told: true }])
    await hub.close()
  })

  /** The callers of changes of one kind, in the order of the feed. */
  const told = async (hub: Hub, kind: string) =>
    (await hub[inside].db.all<{ actor: string }>(sql`SELECT actor FROM changes WHERE kind = ${kind} ORDER BY id`)).map(
      ({ actor }) => actor,
    )

  const composed = { subject: 'Stop', body: 'Revert it.', project: back }

  verifies('web.overseer.preamble', 'reaches everybody, with the preamble', async () => {
    const { hub } = await openPages(open)
    await setContactPolicy(hub, registered('Bob', back), 'block_all')
    const { sent, thread } = await sendAsOverseer(hub, person, { ...composed, recipients: ['Ann', 'bob'] })
    expect(thread).toBeUndefined()
    expect(sent).toMatchObject([{ recipients: [{ name: 'Ann' }, { name: 'Bob' }] }])
    const [mail] = (await listInbox(hub, registered('Bob', back), { limit: 5, bodies: true })).messages
    expect(mail).toMatchObject({ from: { name: 'HumanOverseer' }, importance: 'high', subject: 'Stop' })
    expect(mail?.body).toBe(`---

🚨 MESSAGE FROM HUMAN OVERSEER 🚨

This message is from a human operator overseeing this project. Please prioritize
the instructions below over your current tasks.

You should:
1. Temporarily pause your current work
2. Complete the request described below
3. Resume your original plans afterward (unless modified by these instructions)

The human's guidance supersedes all other priorities.

---

Revert it.`)
    await hub.close()
  })

  verifies('web.overseer.projects', 'one message in each project', async () => {
    const { hub, write } = await openPages(open)
    const begun = await write('Ann', [{ name: 'Cleo' }])
    const { thread = '', sent } = await sendAsOverseer(hub, operator, {
      ...composed,
      recipients: ['Ann', 'Dora@shop-frontend', 'Bob@shop-frontend'],
    })
    expect(sent.map(({ recipients }) => recipients.map(({ name }) => name))).toEqual([['Ann'], ['Dora', 'Bob']])
    for (const project of [back, front])
      expect((await showThread(hub, operator, project, { thread })).messages).toHaveLength(1)
    // A thread that is there goes on, also one that goes by the id of its first message.
    await sendAsOverseer(hub, operator, { ...composed, recipients: ['Ann'], thread: String(begun) })
    expect((await showThread(hub, operator, back, { thread: String(begun) })).messages).toHaveLength(2)
    expect((await listAddressable(hub, local)).map(({ agents }) => agents.map(({ name }) => name))).toEqual([
      ['Ann', 'Bob', 'Cleo'],
      ['Bob', 'Dora'],
    ])
    await hub.close()
  })

  verifies('web.overseer.faults', 'nothing is sent', async () => {
    const { hub, topic } = await openPages(open)
    const recipients = ['Ann']
    for (const [reason, wrong] of [
      ['bad_subject', { subject: ' ' }],
      ['bad_subject', { subject: 'x'.repeat(256) }],
      ['bad_body', { body: ' \n' }],
      ['bad_body', { body: 'x'.repeat(1_048_576) }],
      ['bad_recipients', { recipients: [] }],
      ['bad_recipients', { recipients: ['Ann', 'Nobody'] }],
      ['bad_recipients', { recipients: ['Ann@nowhere'] }],
      ['bad_thread', { thread: topic.uid }],
      ['bad_thread', { thread: 'x'.repeat(200) }],
    ] as const)
      await expect(sendAsOverseer(hub, operator, { ...composed, recipients, ...wrong })).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        reason,
      })
    await expect(sendAsOverseer(hub, local, { ...composed, recipients })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await told(hub, 'message.sent')).toEqual([])
    await hub.close()
  })

  verifies('web.overseer.answer', 'in a thread, in a topic, and as an agent', async () => {
    const { hub, write, keyed, topic } = await openPages(open)
    const id = await write('Ann', [{ name: 'Bob' }, { name: 'Dora', project: front }, { name: 'Cleo', kind: 'bcc' }], {
      thread: 'T-1',
    })
    await answerThread(hub, person, back, { thread: 'T-1', body: 'go on' })
    const { messages } = await showThread(hub, operator, back, { thread: 'T-1' })
    expect(messages.at(-1)).toMatchObject({ overseer: true, subject: 'Re: Plan', replyTo: id })
    expect(
      messages
        .at(-1)
        ?.to.map(({ name }) => name)
        .sort(),
    ).toEqual(['Ann', 'Bob', 'Dora'])
    await answerThread(hub, person, back, { thread: topic.uid, body: 'in the topic' })
    expect((await showThread(hub, operator, back, { thread: topic.uid })).messages).toMatchObject([
      { from: { name: 'HumanOverseer' }, body: 'in the topic' },
    ])
    const bob = await keyed('Bob')
    await answerThread(hub, bob, back, { thread: 'T-1', body: 'as myself' })
    expect((await showThread(hub, operator, back, { thread: 'T-1' })).messages.at(-1)).toMatchObject({
      from: { name: 'Bob' },
      body: 'as myself',
    })
    await expect(answerThread(hub, local, back, { thread: 'T-1', body: 'x' })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    await expect(answerThread(hub, operator, back, { thread: 'T-2', body: 'x' })).rejects.toMatchObject({
      code: 'THREAD_NOT_FOUND',
    })
    await hub.close()
  })

  verifies('web.overseer.answers', 'until they are read', async () => {
    const { hub, write } = await openPages(open)
    await write('Ann', [{ name: 'HumanOverseer' }])
    await write('Dora', [{ name: 'HumanOverseer' }], {}, front)
    const waiting = async (caller: typeof local) =>
      (await listAnswers(hub, caller)).map(({ project, unread }) => [project.replace(/-\w{6}$/, ''), unread])
    expect(await waiting(operator)).toEqual([
      ['shop-backend', 1],
      ['shop-frontend', 1],
    ])
    await markReadFor(hub, operator, back, { name: 'HumanOverseer', ids: 'all' })
    expect(await waiting(local)).toEqual([['shop-frontend', 1]])
    await hub.close()
  })

  verifies('web.steering.read', 'some or all', async () => {
    const { hub, write } = await openPages(open)
    const ids = [
      await write('Ann', [{ name: 'Bob' }]),
      await write('Ann', [{ name: 'Bob' }]),
      await write('Ann', [{ name: 'Bob' }]),
    ]
    const foreign = await write('Ann', [{ name: 'Cleo' }])
    expect(await markReadFor(hub, person, back, { name: 'Bob', ids: [ids[1] ?? 0, foreign] })).toBe(1)
    expect((await take(hub, registered('Bob', back), now))?.mail.body).toBe('hello')
    expect(await markReadFor(hub, person, back, { name: 'Bob', ids: 'all' })).toBe(1)
    expect(await take(hub, registered('Bob', back), now)).toBeUndefined()
    expect((await whois(hub, operator, back, 'Bob')).unread).toBe(0)
    expect(await told(hub, 'mail.read')).toEqual(['person', 'person'])
    await expect(markReadFor(hub, local, back, { name: 'Bob', ids: 'all' })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    await hub.close()
  })

  verifies('web.contacts.decided', 'in the place of the agent', async () => {
    const { hub } = await openPages(open)
    await requestContact(hub, registered('Dora', front), { to: { name: 'Ann', project: back } })
    const decide = (caller: typeof local, accept: boolean) =>
      decideContact(hub, caller, back, { from: 'Dora@shop-frontend', to: 'Ann', accept })
    await expect(decide(local, true)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await decide(person, true)).toMatchObject({ status: 'approved' })
    expect(await decide(operator, false)).toMatchObject({ status: 'denied' })
    expect([...(await told(hub, 'contact.approved')), ...(await told(hub, 'contact.denied'))]).toEqual([
      'person',
      'operator',
    ])
    await hub.close()
  })

  verifies('web.topics.closed', 'and opened again', async () => {
    const { hub, topic } = await openPages(open)
    const set = (caller: typeof local, status: 'open' | 'closed') =>
      setTopicStatus(hub, caller, back, { thread: topic.uid, status })
    await expect(set(local, 'closed')).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await set(person, 'closed')
    expect(await showThread(hub, operator, back, { thread: topic.uid })).toMatchObject({ status: 'closed' })
    await set(person, 'open')
    expect(await showThread(hub, operator, back, { thread: topic.uid })).toMatchObject({ status: 'open' })
    await hub.close()
  })

  verifies('web.attention.remind', 'each who is late, once an hour', async () => {
    const { hub, write, clock } = await openPages(open)
    const id = await write('Ann', [{ name: 'Bob' }, { name: 'Cleo' }, { name: 'Dora', project: front }], {
      ackRequired: true,
    })
    await acknowledgeMessage(hub, registered('Cleo', back), id)
    const names = (all: readonly { name: string }[]) => all.map(({ name }) => name)
    const first = await remind(hub, person, id)
    expect([names(first.reminded), names(first.waiting)]).toEqual([['Bob', 'Dora'], []])
    const again = await remind(hub, person, id)
    expect([names(again.reminded), names(again.waiting)]).toEqual([[], ['Bob', 'Dora']])
    const [mail] = (await listInbox(hub, registered('Dora', front), { limit: 5, bodies: true })).messages
    expect(mail).toMatchObject({ from: { name: 'HumanOverseer' }, subject: 'Reminder: Plan', importance: 'high' })
    expect(mail?.body).toContain(`Message ${id} from Ann`)
    clock.advance(3_600_000)
    expect(names((await remind(hub, person, id)).reminded)).toEqual(['Bob', 'Dora'])
    await expect(remind(hub, local, id)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(remind(hub, operator, 999_999)).rejects.toMatchObject({ code: 'MESSAGE_NOT_FOUND' })
    await hub.close()
  })

  verifies('web.steering.told', 'by everything that a person does', async () => {
    const { hub, topic, write } = await openPages(open)
    const id = await write('Ann', [{ name: 'Bob' }], { thread: 'T-1' })
    const { granted } = await reserve(hub, registered('Ann', back), { ...asked, patterns: ['src/a.ts'] })
    await requestContact(hub, registered('Ann', back), { to: { name: 'Cleo' } })
    const acts: readonly (readonly [kind: string, act: () => Promise<unknown>])[] = [
      ['message.sent', () => sendAsOverseer(hub, person, { ...composed, recipients: ['Ann'] })],
      ['message.sent', () => answerThread(hub, person, back, { thread: 'T-1', body: 'Go on.' })],
      ['message.said', () => answerThread(hub, person, back, { thread: topic.uid, body: 'Hello.' })],
      ['topic.closed', () => setTopicStatus(hub, person, back, { thread: topic.uid, status: 'closed' })],
      ['topic.reopened', () => setTopicStatus(hub, person, back, { thread: topic.uid, status: 'open' })],
      ['message.sent', () => remind(hub, person, id)],
      ['mail.read', () => markReadFor(hub, person, back, { name: 'Bob', ids: 'all' })],
      ['contact.approved', () => decideContact(hub, person, back, { from: 'Ann', to: 'Cleo', accept: true })],
      ['lease.released', () => freeLeases(hub, person, back, { ids: granted.map((lease) => lease.id), patterns: [] })],
      ['project.linked', () => decideRelated(hub, person, back, { other: front, confirm: true })],
      ['project.unlinked', () => decideRelated(hub, person, back, { other: front, confirm: false })],
    ]
    for (const [kind, act] of acts) {
      const before = (await told(hub, kind)).length
      await act()
      const rows = (await told(hub, kind)).slice(before)
      expect([kind, rows.length > 0, new Set(rows)]).toEqual([kind, true, new Set(['person'])])
    }
    await hub.close()
  })
})
