/** Ways around the rules that somebody might try, each of them tried. */
import { expect } from 'vitest'
import { agentCaller, type Caller, local, operator } from '../../src/core/access/callers.ts'
import { callerOfKey } from '../../src/core/access/keys.ts'
import type { Acting } from '../../src/core/agents/acting.ts'
import { ensureAgent, needHome } from '../../src/core/agents/agents.ts'
import { createKey, revokeKeys, rotateKey } from '../../src/core/agents/keys.ts'
import { requestContact } from '../../src/core/contact-requests/requests.ts'
import { listContacts } from '../../src/core/contacts/links.ts'
import { countWaiters, type Hub } from '../../src/core/hub/hub.ts'
import { shakeHands, startWork } from '../../src/core/macros/work.ts'
import { listInbox } from '../../src/core/mail/inbox.ts'
import { take } from '../../src/core/mail/take.ts'
import { reply } from '../../src/core/messages/reply.ts'
import { send } from '../../src/core/messages/send.ts'
import { searchProject } from '../../src/core/search/project.ts'
import { readThread } from '../../src/core/threads/mail-threads.ts'
import { summarizeThread } from '../../src/core/threads/summaries.ts'
import { join } from '../../src/core/topics/members.ts'
import { createTopic } from '../../src/core/topics/topics.ts'
import { TestClock } from '../support/clock.ts'
import { eachEngine, type OpenDatabase } from '../support/engines.ts'
import { now, openTestHub } from '../support/hub.ts'
import { verifies } from '../support/verifies.ts'

const project = '/srv/home'

/** A hub with agents; those whose names begin with K have keys. */
async function setUp(open: OpenDatabase, names: readonly string[], clock = new TestClock()) {
  const hub = await openTestHub(await (await open()).connect(), { clock })
  const callers = new Map<string, Caller>()
  for (const name of names) {
    const agent = await ensureAgent(hub, local, { project, name })
    if (name.startsWith('K')) await createKey(hub, { caller: local, project, name })
    callers.set(name, name.startsWith('K') ? agentCaller(agent) : local)
  }
  const as = (name: string): Acting => ({ caller: callers.get(name) ?? local, project, name, registered: true })
  return { hub, as, clock }
}

const subjects = async (hub: Hub, caller: Caller, key: string) =>
  (await readThread(hub, caller, project, { key, limit: 10 })).messages.map(({ subject }) => subject)

eachEngine('Attacks', (open) => {
  verifies('access.sight.messages', 'to write into a thread opens nothing of it', async () => {
    const { hub, as } = await setUp(open, ['Kim', 'Kurt', 'Kate', 'Ann'])
    const [{ caller: kate }, { caller: kim }] = [as('Kate'), as('Kim')]
    await send(hub, as('Kim'), { to: [{ name: 'Kurt' }], subject: 'secret', body: 'for Kurt', thread: 'T-1' })
    for (const caller of [kate, local])
      await expect(readThread(hub, caller, project, { key: 'T-1', limit: 10 })).rejects.toMatchObject({
        code: 'THREAD_NOT_FOUND',
      })
    // To itself, to another of the same mind, and by answering a blind copy.
    await send(hub, as('Kate'), { to: [{ name: 'Kate' }], subject: 'mine', body: 'x', thread: 'T-1' })
    await send(hub, as('Ann'), { to: [{ name: 'Kate' }], subject: 'help', body: 'x', thread: 'T-1' })
    const draft = { subject: 'blind', body: 'x', thread: 'T-1' }
    const copies = [{ name: 'Kurt' }, { name: 'Kate', kind: 'bcc' as const }]
    const { messageId } = await send(hub, as('Kim'), { to: copies, ...draft })
    await reply(hub, as('Kate'), { messageId, body: 'x', to: [{ name: 'Kate' }] })
    expect(await subjects(hub, kate, 'T-1')).toEqual(['mine', 'help', 'Re: blind'])
    expect(await subjects(hub, local, 'T-1')).toEqual(['help'])
    expect(await subjects(hub, kim, 'T-1')).toEqual(['secret', 'blind'])
    expect(await subjects(hub, operator, 'T-1')).toHaveLength(5)
    const summary = await summarizeThread(hub, kate, { project, key: 'T-1', refine: false })
    expect(summary.totalMessages).toBe(3)
    expect(JSON.stringify(summary)).not.toContain('secret')
    expect((await searchProject(hub, kate, project, { query: 'secret OR blind' })).hits).toMatchObject([
      { subject: 'Re: blind' },
    ])
    await hub.close()
  })

  verifies('access.key.protects', 'a wait that began before the key was given takes nothing', async () => {
    const { hub, as } = await setUp(open, ['Bob', 'Ann'])
    const waiting = take(hub, as('Bob'), { ...now, waitMs: 40_000 })
    waiting.catch(() => {})
    await expect.poll(() => countWaiters(hub)).toBe(1)
    const { agent } = await createKey(hub, as('Bob'))
    await send(hub, as('Ann'), { to: [{ name: 'Bob' }], body: 'for the owner only' })
    await expect(waiting).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const owner = { ...as('Bob'), caller: agentCaller(agent) }
    expect((await take(hub, owner, now))?.mail.body).toBe('for the owner only')
    await hub.close()
  })

  verifies('access.key.ended', 'a key that was used a moment ago is no key once it is ended', async () => {
    const database = await open()
    const clock = new TestClock()
    const [hub, other] = [
      await openTestHub(await database.connect(), { clock }),
      await openTestHub(await database.connect(), { clock }),
    ]
    const bob = { caller: local, project, name: 'Bob', registered: true }
    await ensureAgent(hub, local, { project, name: 'Bob' })
    const { key, agent } = await createKey(hub, bob)
    const owner = { ...bob, caller: agentCaller(agent) }
    for (const one of [hub, other]) expect(await callerOfKey(one, key)).toMatchObject({ agentId: agent.id })
    const { key: next } = await rotateKey(hub, owner)
    expect(await callerOfKey(hub, key)).toBeUndefined()
    clock.advance(1000)
    expect(await callerOfKey(other, key)).toBeUndefined()
    for (const one of [hub, other]) expect(await callerOfKey(one, next)).toMatchObject({ agentId: agent.id })
    await revokeKeys(hub, owner)
    expect(await callerOfKey(hub, next)).toBeUndefined()
    await Promise.all([hub.close(), other.close()])
  })

  verifies('access.key.protects', 'of many who give the first key at once, one succeeds', async () => {
    const { hub, as } = await setUp(open, ['Bob'])
    const given = await Promise.allSettled(Array.from({ length: 8 }, () => createKey(hub, as('Bob'))))
    expect(given.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await expect(createKey(hub, { ...as('Bob'), caller: operator })).resolves.toMatchObject({ agent: { name: 'Bob' } })
    await hub.close()
  })

  verifies(
    'access.key.protects',
    'a name that another process holds at a topic goes to the owner of the key',
    async () => {
      const { hub, as } = await setUp(open, ['Bob'])
      const topic = await createTopic(hub, local, project, { name: 't', mode: 'new' })
      const squatter = { caller: local, project, key: 'url:bob' }
      await join(hub, squatter, { topic, name: 'Bob', token: undefined })
      const { agent } = await createKey(hub, as('Bob'))
      const owner = { caller: agentCaller(agent), project, key: 'session:owner' }
      expect(await join(hub, owner, { topic, name: 'Bob', token: undefined })).toMatchObject({ name: 'Bob' })
      await expect(join(hub, squatter, { topic, name: 'Bob', token: undefined })).rejects.toMatchObject({
        code: 'FORBIDDEN',
      })
      await hub.close()
    },
  )

  verifies(
    'access.sight.search',
    'any number of hidden messages does not keep a visible one from being found',
    async () => {
      const { hub, as } = await setUp(open, ['Ann', 'Kim', 'Kurt'])
      await send(hub, as('Ann'), { to: [{ name: 'Ann' }], body: 'zebra, for all to see' })
      for (let n = 0; n < 1001; n++) await send(hub, as('Kim'), { to: [{ name: 'Kurt' }], body: `zebra ${n}` })
      expect((await searchProject(hub, local, project, { query: 'zebra' })).hits).toMatchObject([{ sender: 'Ann' }])
      await hub.close()
    },
  )

  verifies(
    'access.foreign.missing',
    'a foreign project and a missing one answer the holder of a key alike',
    async () => {
      const { hub, as } = await setUp(open, ['Kim'])
      await ensureAgent(hub, local, { project: '/srv/foreign', name: 'Zoe' })
      const failure = async (call: (project: string) => Promise<unknown>, there: string) => {
        const error = await call(there).then(
          () => undefined,
          ({ code, message, hint }) => JSON.stringify([code, message, hint]),
        )
        return error?.replaceAll(there, 'there')
      }
      const calls: ((there: string) => Promise<unknown>)[] = [
        (there) => send(hub, as('Kim'), { to: [{ name: 'Nobody', project: there }], body: 'x' }),
        (there) => requestContact(hub, as('Kim'), { to: { name: 'Nobody', project: there } }),
        (there) => {
          const wanted = { patterns: [`${there}/a.ts`], exclusive: true, reason: '', ttlMs: 1000 }
          const newcomer = { project: there, name: 'Kim' }
          return startWork(hub, as('Kim').caller, { newcomer, wanted, inbox: { limit: 1 } })
        },
      ]
      for (const call of calls) {
        const told = await failure(call, '/srv/foreign')
        expect(told).toBeDefined()
        expect(told).toBe(await failure(call, '/srv/missing'))
      }
      await hub.close()
    },
  )

  verifies(
    'access.verbs.matrix',
    'the holder of a key finds its home, however many projects have its name',
    async () => {
      const { hub } = await setUp(open, [])
      for (let n = 0; n < 7; n++) await ensureAgent(hub, local, { project: `/srv/p${n}`, name: 'Bob' })
      const last = await ensureAgent(hub, local, { project: '/srv/last', name: 'Bob' })
      expect(await needHome(hub, agentCaller(last), 'Bob')).toMatch(/^last-/)
      await expect(needHome(hub, local, 'Bob')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
      await hub.close()
    },
  )

  verifies('access.verbs.matrix', 'the holder of a key does not learn by a wrong name who is elsewhere', async () => {
    const { hub, as } = await setUp(open, ['Ann'])
    const ann = await ensureAgent(hub, local, { project: '/srv/elsewhere', name: 'Ann' })
    await ensureAgent(hub, local, { project: '/srv/third', name: 'Zoe' })
    const told = async (acting: Acting) => {
      const { deliveries } = await send(hub, acting, { to: [{ name: 'Zoe' }], body: 'x' })
      return deliveries.map(({ made, near }) => ({ made, near }))
    }
    expect(await told(as('Ann'))).toEqual([{ made: true, near: [expect.stringMatching(/^Zoe@third-/)] }])
    const keyed = { caller: agentCaller(ann), project: '/srv/elsewhere', name: 'Ann', registered: true }
    expect(await told(keyed)).toEqual([{ made: true, near: [] }])
    await hub.close()
  })

  verifies('access.verbs.matrix', 'a handshake that cannot be answered for the other leaves no request', async () => {
    const { hub, as } = await setUp(open, ['Ann', 'Kim'])
    await expect(shakeHands(hub, as('Ann'), { with: { name: 'Kim' }, accept: true })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    expect((await listContacts(hub, as('Ann'))).contacts).toEqual([])
    expect((await listInbox(hub, as('Kim'), { limit: 10 })).messages).toEqual([])
    await hub.close()
  })
})
