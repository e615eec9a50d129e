/** The mail of all projects, as people read it, on both engines. */
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { now, registered } from '../../../test/support/hub.ts'
import { back, front, openPages } from '../../../test/support/pages.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { local, operator, tokenCaller } from '../access/callers.ts'
import { acknowledgeMessage, markRead } from '../mail/receipts.ts'
import { take } from '../mail/take.ts'
import { fileAll } from '../messages/filing.ts'
import { reply } from '../messages/reply.ts'
import { closeTopic } from '../topics/topics.ts'
import { listBox } from './agent-mail.ts'
import { showMessage } from './message.ts'
import { listPageProjects, listWorkers, overviewProject } from './projects.ts'
import { listThreads, showThread } from './threads.ts'
import { type AllMailWish, listAllMail, listAllThreads } from './unified-inbox.ts'

/** On a PostgreSQL that other tests use too, their transactions may be open for long. */
const patient = { timeout: 20_000 }

const ids = (items: readonly { readonly id: number }[]) => items.map(({ id }) => id)

eachEngine('Oversight', (open) => {
  verifies('web.inbox.unified', 'mail and topics of all projects, filtered, page by page', async () => {
    const { hub, write, say } = await openPages(open)
    const first = await write('Ann', [{ name: 'Bob' }], { importance: 'urgent' })
    const across = await write('Ann', [
      { name: 'Dora', project: front },
      { name: 'Cleo', kind: 'cc' },
    ])
    const foreign = await write('Dora', [{ name: 'Bob' }], { importance: 'high' }, front)
    await say('Cleo', 'hello all')
    const last = await write('Bob', [{ name: 'Ann' }])
    await markRead(hub, registered('Bob', back), first)
    const list = async (wish: Partial<AllMailWish> = {}) =>
      ids((await listAllMail(hub, operator, { limit: 50, ...wish })).items)

    const { items, next } = await listAllMail(hub, operator, { limit: 50 })
    expect(next).toBeUndefined()
    const said = items[1]?.id ?? 0
    expect(ids(items)).toEqual([last, said, foreign, across, first])
    expect(items[1]).toMatchObject({
      topic: 'standup',
      subject: 'standup',
      excerpt: 'hello all',
      from: { name: 'Cleo' },
    })
    expect(items[3]).toMatchObject({
      project: expect.stringMatching(/^shop-backend-/),
      from: { name: 'Ann' },
      to: [{ name: 'Dora', project: expect.stringMatching(/^shop-frontend-/) }],
      cc: [{ name: 'Cleo' }],
      unread: 2,
      recipients: 2,
    })

    // The same whether it was filed or not.
    for (const filed of [false, true]) {
      if (filed) void fileAll(hub)
      expect(await list({ project: front })).toEqual([foreign, across])
      expect(await list({ project: back })).toEqual([last, said, across, first])
      expect(await list({ from: 'Bob' })).toEqual([last])
      expect(await list({ from: 'cleo' })).toEqual([said])
      expect(await list({ from: 'Bob@shop-frontend' })).toEqual([])
      expect(await list({ from: 'Ann', project: front })).toEqual([across])
      expect(await list({ importance: 'urgent' })).toEqual([first])
      expect(await list({ importance: 'high', project: back })).toEqual([])
      expect(await list({ unread: true })).toEqual([last, foreign, across])
      expect(await list({ unread: true, project: back })).toEqual([last, across])
      expect(await list({ unread: true, from: 'Dora' })).toEqual([foreign])
      const page = await listAllMail(hub, operator, { limit: 2, before: last })
      expect(ids(page.items)).toEqual([said, foreign])
      expect(page).toMatchObject({ next: foreign, prev: said })
      const newer = await listAllMail(hub, operator, { limit: 2, after: across })
      expect(ids(newer.items)).toEqual([said, foreign])
      expect(newer).toMatchObject({ prev: said, next: foreign })
    }
    await expect(list({ project: 'nowhere' })).rejects.toMatchObject({ code: 'PROJECT_NOT_FOUND' })
    await hub.close()
  })

  verifies('web.inbox.threads', 'one row a thread, and one that goes on moves up', async () => {
    const { hub, write, say } = await openPages(open)
    const first = await write('Ann', [{ name: 'Bob' }], { thread: 'T-1' })
    const second = await write('Ann', [{ name: 'Cleo' }])
    await say('Bob', 'one')
    await say('Bob', 'two')
    const list = async (more: object = {}) =>
      (await listAllThreads(hub, operator, { limit: 50, ...more })).items.map(({ id, count }) => [id, count])
    const [[said] = []] = await list()
    for (const filed of [false, true]) {
      if (filed) void fileAll(hub)
      expect(await list()).toEqual([
        [said, 2],
        [second, 1],
        [first, 1],
      ])
      expect(await list({ before: second })).toEqual([[first, 1]])
      expect(await list({ project: front })).toEqual([])
    }
    const answer = (await reply(hub, registered('Bob', back), { messageId: first, body: 'yes' })).messageId
    expect(await list()).toEqual([
      [answer, 2],
      [said, 2],
      [second, 1],
    ])
    expect((await listAllThreads(hub, operator, { limit: 1 })).next).toBe(answer)
    await hub.close()
  })

  verifies('web.inbox.box', 'inbox and outbox of an agent', async () => {
    const { hub, write } = await openPages(open)
    const sent: number[] = []
    for (let n = 0; n < 5; n++) sent.push(await write('Ann', [{ name: 'Bob', kind: n === 2 ? 'cc' : 'to' }]))
    const [a, b, c, d, e] = sent as [number, number, number, number, number]
    await acknowledgeMessage(hub, registered('Bob', back), b)
    const box = async (more: object = {}) =>
      listBox(hub, operator, back, { name: 'Bob', box: 'inbox', limit: 2, ...more })
    expect(ids((await box()).items)).toEqual([e, d])
    expect(ids((await box({ page: 2 })).items)).toEqual([c, b])
    expect((await box({ page: 2 })).items).toMatchObject([
      { kind: 'cc' },
      { readAt: hub.clock.now(), ackedAt: hub.clock.now() },
    ])
    expect(await box({ before: b })).toMatchObject({
      items: [{ id: a }],
      next: undefined,
      agent: { name: 'Bob', unread: 4 },
    })
    expect(ids((await box({ unread: true, before: c })).items)).toEqual([a])
    expect(ids((await box({ name: 'Ann', box: 'outbox', before: c })).items)).toEqual([b, a])
    await expect(box({ name: 'Nobody' })).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' })
    await hub.close()
  })

  verifies('web.projects.figures', 'projects with their figures, and the overview of one', async () => {
    const { hub, write, say } = await openPages(open)
    await write('Ann', [{ name: 'Dora', project: front }])
    await write('Ann', [{ name: 'Bob' }], { thread: 'T-1' })
    await say('Bob', 'hello')
    await expect.poll(async () => (await overviewProject(hub, operator, back)).counts.messages, patient).toBe(3)
    const { items } = await listPageProjects(hub, operator, { limit: 50 })
    expect(
      items.map(({ slug, agents, messages, unread }) => [slug.replace(/-\w{6}$/, ''), agents, messages, unread]),
    ).toEqual([
      ['commons', 0, 0, 0],
      ['shop-backend', 3, 3, 1],
      ['shop-frontend', 2, 1, 1],
    ])
    expect(ids((await listPageProjects(hub, operator, { q: 'FRONT', limit: 50 })).items)).toEqual([items[2]?.id])
    const waiting = take(hub, registered('Cleo', back), { ...now, waitMs: 50_000 })
    await expect
      .poll(async () =>
        (await listWorkers(hub, operator, back)).filter(({ waiting }) => waiting).map(({ name }) => name),
      )
      .toEqual(['Cleo'])
    await write('Ann', [{ name: 'Cleo' }])
    await waiting
    // On PostgreSQL a change is counted once no older transaction of the server is open.
    await expect.poll(async () => (await overviewProject(hub, operator, back)).counts.messages, patient).toBe(4)
    const overview = await overviewProject(hub, operator, back)
    expect(overview).toMatchObject({
      counts: { agents: 3, messages: 4, unread: 1, leases: 0 },
      leases: [],
    })
    expect(overview.threads.map(({ id, topic, count }) => [topic ?? id, count])).toEqual([
      [expect.any(String), 1],
      ['standup', 1],
      ['T-1', 1],
      [expect.any(String), 1],
    ])
    expect(overview.hours.at(-1)?.count).toBe(4)
    await hub.close()
  })

  verifies('web.message.states', 'each recipient in words', async () => {
    const { hub, write, clock } = await openPages(open)
    const to = [
      { name: 'Bob' },
      { name: 'Cleo', kind: 'cc' as const },
      { name: 'Dora', project: front, kind: 'bcc' as const },
    ]
    const id = await write('Ann', to, { ackRequired: true, thread: 'T-9' })
    await write('Ann', [{ name: 'Bob' }], { thread: 'T-9' })
    await markRead(hub, registered('Bob', back), id)
    const states = async () =>
      (await showMessage(hub, operator, back, id)).states.map(({ name, kind, state }) => `${name} ${kind} ${state}`)
    expect(await states()).toEqual(['Bob to read', 'Cleo cc unread', 'Dora bcc unread'])
    clock.advance(1_800_001)
    await acknowledgeMessage(hub, registered('Dora', front), id)
    expect(await states()).toEqual(['Bob to overdue', 'Cleo cc overdue', 'Dora bcc acknowledged'])
    const shown = await showMessage(hub, operator, back, id)
    expect(shown).toMatchObject({ body: 'hello', bcc: [{ name: 'Dora' }], around: [{ subject: 'Plan' }] })
    await expect(showMessage(hub, operator, front, id)).rejects.toMatchObject({ code: 'MESSAGE_NOT_FOUND' })
    await expect(showMessage(hub, operator, back, 999_999)).rejects.toMatchObject({ code: 'MESSAGE_NOT_FOUND' })
    await hub.close()
  })

  verifies('web.thread.newest', 'a conversation from its end', async () => {
    const { hub, write, say, topic } = await openPages(open)
    const all: number[] = []
    for (let n = 0; n < 5; n++)
      all.push(await write('Ann', [{ name: n === 0 ? 'Cleo' : 'Bob' }], { thread: 'T-1', body: `n${n}` }))
    const show = (more: object = {}) => showThread(hub, operator, back, { thread: 'T-1', limit: 2, ...more })
    const page = await show()
    expect(page.messages.map(({ body }) => body)).toEqual(['n3', 'n4'])
    expect(page).toMatchObject({ id: 'T-1', subject: 'Plan', status: 'open', count: 5, next: all[3] })
    expect(page.participants.map(({ name, waiting }) => [name, waiting])).toEqual([
      ['Ann', false],
      ['Bob', false],
      ['Cleo', false],
    ])
    expect((await show({ before: all[3] })).messages.map(({ body }) => body)).toEqual(['n1', 'n2'])
    expect(await show({ before: all[1] })).toMatchObject({ messages: [{ body: 'n0' }], next: undefined })
    await say('Bob', 'in the topic')
    expect(await showThread(hub, operator, back, { thread: topic.uid })).toMatchObject({
      topic: 'standup',
      messages: [{ body: 'in the topic' }],
    })
    await expect(showThread(hub, operator, back, { thread: 'T-2' })).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' })
    await hub.close()
  })

  verifies('web.threads.listed', 'threads and topics by status, kind and words', async () => {
    const { hub, write, say, topic } = await openPages(open)
    await write('Ann', [{ name: 'Bob' }], { thread: 'T-1', subject: 'Login page' })
    await say('Bob', 'hello')
    const list = async (more: object = {}) =>
      (await listThreads(hub, operator, back, { limit: 50, ...more })).items.map(({ topic, id }) => topic ?? id)
    expect(await list()).toEqual(['standup', 'T-1'])
    expect(await list({ kind: 'mail' })).toEqual(['T-1'])
    expect(await list({ kind: 'topic' })).toEqual(['standup'])
    expect(await list({ q: 'LOGIN' })).toEqual(['T-1'])
    expect(await list({ q: '100%' })).toEqual([])
    await closeTopic(hub, local, back, { uid: topic.uid })
    expect(await list({ status: 'open' })).toEqual(['T-1'])
    expect(await list({ status: 'closed' })).toEqual(['standup'])
    expect((await listThreads(hub, operator, back, { limit: 1 })).next).toBeDefined()
    await hub.close()
  })

  verifies('web.access.sight', 'blind copies, mail among holders of keys, and an agent’s own', async () => {
    const { hub, write, keyed } = await openPages(open)
    const open1 = await write('Ann', [{ name: 'Bob' }, { name: 'Cleo', kind: 'bcc' }], { thread: 'T-1' })
    const secret = await write('Ann', [{ name: 'Bob' }], { subject: 'Secret' })
    const [ann, bob, cleo] = [await keyed('Ann'), await keyed('Bob'), await keyed('Cleo')]
    const dora = await keyed('Dora', front)

    const [sealed] = (await listAllMail(hub, local, { limit: 1 })).items
    expect(sealed).toMatchObject({
      id: secret,
      sealed: true,
      subject: '',
      excerpt: '',
      from: { name: 'Ann' },
      to: [{ name: 'Bob' }],
    })
    expect(await showMessage(hub, local, back, secret)).toMatchObject({ sealed: true, body: undefined, subject: '' })
    expect((await showThread(hub, local, back, { thread: 'T-1' })).messages).toMatchObject([
      { sealed: true, body: undefined },
    ])
    expect(await showMessage(hub, operator, back, secret)).toMatchObject({ sealed: false, body: 'hello' })

    for (const token of [tokenCaller('jwt:x', false), tokenCaller('jwt:y', true)]) {
      expect(await showMessage(hub, token, back, secret)).toMatchObject({ sealed: true, body: undefined, subject: '' })
      expect(await showMessage(hub, token, back, open1)).toMatchObject({ bcc: [], recipients: 1 })
    }
    const blind = async (caller: Parameters<typeof showMessage>[1]) =>
      (await showMessage(hub, caller, back, open1)).bcc.map(({ name }) => name)
    expect([await blind(operator), await blind(local), await blind(ann), await blind(bob), await blind(cleo)]).toEqual([
      ['Cleo'],
      ['Cleo'],
      ['Cleo'],
      [],
      ['Cleo'],
    ])
    expect(ids((await listAllMail(hub, cleo, { limit: 50 })).items)).toEqual([open1])
    expect(ids((await listAllMail(hub, bob, { limit: 50 })).items)).toEqual([secret, open1])
    await expect(showMessage(hub, cleo, back, secret)).rejects.toMatchObject({ code: 'MESSAGE_NOT_FOUND' })
    await expect(showThread(hub, cleo, back, { thread: String(secret) })).rejects.toMatchObject({
      code: 'THREAD_NOT_FOUND',
    })
    await expect(listBox(hub, cleo, back, { name: 'Bob', box: 'inbox', limit: 5 })).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
    })
    await expect(overviewProject(hub, dora, back)).rejects.toMatchObject({ code: 'PROJECT_NOT_FOUND' })
    expect((await overviewProject(hub, cleo, back)).threads.map(({ id }) => id)).toEqual(['T-1'])
    await hub.close()
  })
})
