/** Mail in the core, on both engines: recipients, threads across projects, blind copies, receipts, counters. */

import sql from 'sql-template-tag'
import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, now, openTestHub, registered, type TestHubOptions } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { local } from '../access/callers.ts'
import { activity } from '../agents/activity.ts'
import { ensureAgent } from '../agents/agents.ts'
import { listAgents, pageAgents, whois } from '../agents/profiles.ts'
import { type Hub, inside } from '../hub/hub.ts'
import { reply } from '../messages/reply.ts'
import { type Draft, send } from '../messages/send.ts'
import { needMessage, readThread } from '../threads/mail-threads.ts'
import { listInbox, listOutbox } from './inbox.ts'
import { acknowledgeMessage, markRead } from './receipts.ts'
import { acknowledge, take } from './take.ts'

eachEngine('Mail', (open) => {
  async function begin(options: TestHubOptions = {}): Promise<Hub> {
    const hub = await openTestHub(await (await open()).connect(), options)
    for (const name of ['Ann', 'Bob', 'Cleo']) await ensureAgent(hub, local, { project: '/srv/back', name })
    for (const name of ['Bob', 'Dora']) await ensureAgent(hub, local, { project: '/srv/front', name })
    return hub
  }

  const draft = (...to: Draft['to']): Draft => ({ to, subject: 'Plan', body: 'hello' })
  const [ann, bob, cleo] = ['Ann', 'Bob', 'Cleo'].map((name) => registered(name, 'back')) as [
    ReturnType<typeof registered>,
    ReturnType<typeof registered>,
    ReturnType<typeof registered>,
  ]
  const dora = registered('Dora', 'front')
  const all = { limit: 100, bodies: true }

  const unread = async (hub: Hub): Promise<Record<string, number>> => {
    const rows = await hub[inside].db.all<{ name: string; unread: number }>(
      sql`SELECT a.name || '@' || p.human_key AS name, a.unread FROM agents a JOIN projects p ON p.id = a.project_id
        WHERE a.unread <> 0`,
    )
    return Object.fromEntries(rows.map(({ name, unread }) => [name, unread]))
  }

  verifies('mail.bcc.hidden', 'a blind copy is seen by its recipient and by the sender alone', async () => {
    const hub = await begin()
    const to = [
      { name: 'Bob' },
      { name: 'Cleo', kind: 'cc' as const },
      { name: 'Dora', project: 'front', kind: 'bcc' as const },
    ]
    const { messageId } = await send(hub, ann, { ...draft(...to), thread: 'T-1' })
    const names = (parties: readonly { name: string }[]) => parties.map(({ name }) => name)

    for (const agent of [bob, cleo]) {
      const [seen] = (await listInbox(hub, agent, all)).messages
      expect(seen && [names(seen.to), names(seen.cc), names(seen.bcc)]).toEqual([['Bob'], ['Cleo'], []])
    }
    expect((await listInbox(hub, dora, all)).messages).toMatchObject([{ kind: 'bcc', body: 'hello', bcc: [] }])
    expect((await listOutbox(hub, ann, all)).messages.map(({ bcc }) => names(bcc))).toEqual([['Dora']])
    expect((await needMessage(hub, local, 'back', messageId)).bcc).toEqual([])
    expect((await readThread(hub, local, 'back', { key: 'T-1', ...all })).messages[0]?.bcc).toEqual([])
    // The project of whoever got a blind copy knows nothing of it; only that agent does.
    await expect(needMessage(hub, local, 'front', messageId)).rejects.toMatchObject({ code: 'MESSAGE_NOT_FOUND' })
    await expect(readThread(hub, local, 'front', { key: 'T-1', ...all })).rejects.toMatchObject({
      code: 'THREAD_NOT_FOUND',
    })
    await expect(reply(hub, registered('Bob', 'front'), { messageId, body: 'x' })).rejects.toMatchObject({
      code: 'MESSAGE_NOT_FOUND',
    })
    expect(await reply(hub, dora, { messageId, body: 'seen' })).toMatchObject({
      deliveries: [{ agent: { name: 'Ann' } }],
    })
  })

  verifies('mail.bcc.uncounted', 'whoever counts the unread mail of others learns of no blind copy', async () => {
    const hub = await begin()
    const counts = async () => [
      (await whois(hub, local, 'back', 'Cleo')).unread,
      (await listAgents(hub, local, 'back', { limit: 10 })).agents.find(({ name }) => name === 'Cleo')?.unread,
      (await pageAgents(hub, local, 'back', { limit: 10 })).agents.find(({ name }) => name === 'Cleo')?.unread,
    ]
    await send(hub, ann, draft({ name: 'Cleo' }))
    const { messageId } = await send(hub, ann, draft({ name: 'Bob' }, { name: 'Cleo', kind: 'bcc' }))
    await send(hub, ann, draft({ name: 'Bob' }, { name: 'Cleo', kind: 'bcc' }))
    expect(await counts()).toEqual([1, 1, 1])
    await markRead(hub, cleo, messageId)
    expect(await counts()).toEqual([1, 1, 1])
    expect((await listInbox(hub, cleo, all)).messages).toHaveLength(3)
  })

  verifies(
    'mail.thread.projects',
    'a thread is followed across projects as far as its messages came there',
    async () => {
      const hub = await begin()
      await send(hub, ann, { ...draft({ name: 'Bob' }), thread: 'T-1', body: 'inside' })
      const { messageId } = await send(hub, ann, {
        ...draft({ name: 'Dora', project: 'front' }),
        thread: 'T-1',
        body: 'across',
      })
      await reply(hub, dora, { messageId, body: 'back' })
      await send(hub, dora, { ...draft({ name: 'Bob' }), thread: 'T-1', body: 'at home' })
      const bodies = async (project: string) =>
        (await readThread(hub, local, project, { key: 'T-1', ...all })).messages.map(({ body }) => body)
      expect(await bodies('back')).toEqual(['inside', 'across', 'back'])
      expect(await bodies('front')).toEqual(['across', 'back', 'at home'])
      const [answer] = (await listInbox(hub, ann, all)).messages
      expect(answer).toMatchObject({
        body: 'back',
        thread: 'T-1',
        from: { name: 'Dora', project: expect.stringMatching(/^front-/) },
      })
    },
  )

  verifies('mail.recipient.made', 'unless the setting forbids it, in which case nothing is stored', async () => {
    const hub = await begin({ rules: { makeRecipients: false } })
    await expect(send(hub, ann, draft({ name: 'Bob' }, { name: 'Nobody' }))).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
      message: expect.stringContaining('"Nobody"'),
    })
    expect(await hub[inside].db.all(sql`SELECT 1 FROM messages`)).toEqual([])
    // At the mailbox door a new agent needs no set-up, whatever the setting says.
    await send(hub, as('Ann', 'back'), { to: [{ name: 'Nobody' }], body: 'x' })
    expect((await listInbox(hub, registered('Nobody', 'back'), all)).messages).toHaveLength(1)
  })

  test('unread mail is counted once for each recipient, and by whichever way it is read', async () => {
    const hub = await begin()
    const { messageId } = await send(hub, ann, draft({ name: 'Bob' }, { name: 'Cleo', kind: 'cc' }))
    const second = await send(hub, ann, draft({ name: 'Bob' }))
    expect(await unread(hub)).toEqual({ 'Bob@/srv/back': 2, 'Cleo@/srv/back': 1 })
    await markRead(hub, bob, messageId)
    await acknowledgeMessage(hub, bob, messageId)
    expect(await unread(hub)).toEqual({ 'Bob@/srv/back': 1, 'Cleo@/srv/back': 1 })
    // Lent at the mailbox door, confirmed here: the loan has nothing left to confirm.
    const lent = await take(hub, as('Bob', 'back'), { ...now, loanMs: 60_000 })
    await acknowledgeMessage(hub, bob, second.messageId)
    await acknowledge(hub, as('Bob', 'back'), { clientId: lent?.mail.clientId ?? '', loan: lent?.mail.loan ?? '' })
    expect(await unread(hub)).toEqual({ 'Cleo@/srv/back': 1 })
  })

  test('receipts that race each other are counted once', async () => {
    const hub = await begin()
    const { messageId } = await send(hub, ann, draft({ name: 'Bob' }))
    const signed = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? markRead : acknowledgeMessage)(hub, bob, messageId)),
    )
    expect(new Set(signed.map(({ readAt }) => readAt)).size).toBe(1)
    expect(await unread(hub)).toEqual({})
  })

  test('sends to many that cross each other end, and every counter is right', async () => {
    const database = await open()
    const hubs = [await openTestHub(await database.connect()), await openTestHub(await database.connect())] as const
    const names = Array.from({ length: 8 }, (_, n) => `agent-${n}`)
    for (const name of names) await ensureAgent(hubs[0], local, { project: '/srv/many', name })
    await Promise.all(
      Array.from({ length: 40 }, (_, n) => {
        const to = [...names.slice(n % 8), ...names.slice(0, n % 8)].map((name) => ({ name }))
        return send(
          hubs[n % 2 === 0 ? 0 : 1],
          as(names[n % 8] ?? '', 'many'),
          draft(...(n % 3 === 0 ? to.toReversed() : to)),
        )
      }),
    )
    expect(Object.values(await unread(hubs[0]))).toEqual(Array(8).fill(40))
  })

  test('sends to one and to many into one thread, on two nodes, do not lock each other out', async () => {
    const database = await open()
    const hubs = [await openTestHub(await database.connect()), await openTestHub(await database.connect())] as const
    const names = Array.from({ length: 6 }, (_, n) => `agent-${n}`)
    for (const name of names) await ensureAgent(hubs[0], local, { project: '/srv/one', name, policy: 'auto' })
    await send(hubs[0], registered('agent-0', 'one'), { ...draft({ name: 'agent-1' }), thread: 'T' })
    const sent = await Promise.all(
      Array.from({ length: 60 }, (_, n) => {
        const to = n % 2 === 0 ? [{ name: names[n % 6] ?? '' }] : names.map((name) => ({ name }))
        return send(hubs[n % 4 < 2 ? 0 : 1], registered(names[(n + 1) % 6] ?? '', 'one'), {
          ...draft(...to),
          thread: 'T',
        })
      }),
    )
    expect(sent.every(({ blocked }) => blocked.length === 0)).toBe(true)
    expect((await readThread(hubs[1], local, 'one', { key: 'T', limit: 100 })).messages).toHaveLength(61)
  })

  test('a number that names a message joins its thread only for those who have part in it', async () => {
    const hub = await begin()
    const { messageId } = await send(hub, ann, draft({ name: 'Bob' }))
    const key = String(messageId)
    expect(await send(hub, cleo, { ...draft({ name: 'Bob' }), thread: key })).toMatchObject({ thread: key })
    const rows = () => hub[inside].db.all<{ n: number }>(sql`SELECT COUNT(*) AS n FROM threads`)
    expect(await rows()).toEqual([{ n: 2 }])
    await send(hub, bob, { ...draft({ name: 'Ann' }), thread: key })
    expect(await rows()).toEqual([{ n: 2 }])
  })

  test('a copy does not demote whom a reply goes to', async () => {
    const hub = await begin()
    const { messageId } = await send(hub, ann, draft({ name: 'Bob' }))
    const copies = [
      { name: 'Ann', kind: 'bcc' as const },
      { name: 'Cleo', kind: 'cc' as const },
    ]
    const { deliveries } = await reply(hub, bob, { messageId, body: 'x', copies })
    expect(deliveries.map(({ agent, kind }) => `${agent.name} ${kind}`)).toEqual(['Ann to', 'Cleo cc'])
  })

  test('a full mailbox is left out, and the others get the message', async () => {
    const hub = await begin({ mailboxDepth: 1 })
    await send(hub, ann, draft({ name: 'Bob' }))
    expect(await send(hub, ann, draft({ name: 'Bob' }, { name: 'Cleo' }))).toMatchObject({
      deliveries: [{ agent: { name: 'Cleo' } }],
      blocked: [{ recipient: { agent: { name: 'Bob' } }, code: 'MAILBOX_FULL' }],
    })
    await expect(send(hub, ann, draft({ name: 'Bob' }, { name: 'Cleo' }))).rejects.toMatchObject({
      code: 'MAILBOX_FULL',
    })
  })

  test('what was said in a topic is answered there', async () => {
    const hub = await begin()
    const { messageId } = await send(hub, ann, draft({ name: 'Bob' }))
    await hub[inside].db.tx((tx) => tx.all(sql`UPDATE threads SET name = 'planning', name_key = 'planning'`))
    await expect(reply(hub, bob, { messageId, body: 'x' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      reason: 'in_topic',
      hint: expect.stringContaining('in the topic'),
    })
  })

  verifies(
    'mail.activity.kept',
    'an agent is active when it acts, and that is still known after a restart',
    async () => {
      const database = await open()
      const hub = await openTestHub(await database.connect())
      const bobs = await ensureAgent(hub, local, { project: '/srv/back', name: 'Bob' })
      const clock = hub.clock as unknown as { advance(ms: number): void; now(): number }
      clock.advance(60_000)
      await listInbox(hub, bob, all)
      expect(activity(hub).latest(bobs.id, 0)).toBe(clock.now())
      await hub.close()
      const db = await database.connect()
      expect(await db.all(sql`SELECT active_at FROM agents WHERE id = ${bobs.id}`)).toEqual([
        { active_at: clock.now() },
      ])
    },
  )
})
