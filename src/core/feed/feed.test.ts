/** The feed as its followers read it: every kind of change that the verbs make, with its ids and whoever made it. */
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { dbOf } from '../../../test/support/feed.ts'
import { now, openTestHub, standInRemoteTools } from '../../../test/support/hub.ts'
import { asked } from '../../../test/support/leases.ts'
import { outgoing, plain } from '../../../test/support/topics.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { type Event, findLastChange, listChangesAfter, type Recorded } from '../../store/feed/changes.ts'
import { start } from '../../store/feed/positions.ts'
import { type Caller, local, operator, person } from '../access/callers.ts'
import { sessionHolder } from '../access/holders.ts'
import { addFollowed, endSession } from '../access/sessions.ts'
import { ensureAgent } from '../agents/agents.ts'
import { register } from '../agents/registration.ts'
import { requestContact, respondContact } from '../contact-requests/requests.ts'
import { setContactPolicy } from '../contacts/links.ts'
import { inside } from '../hub/hub.ts'
import { release, renew, reserve, sweepLeases } from '../leases/leases.ts'
import { buryWorn } from '../mail/dead-letters.ts'
import { keepExpiring } from '../mail/expiry.ts'
import { listInbox } from '../mail/inbox.ts'
import { acknowledgeMessage, markRead } from '../mail/receipts.ts'
import { take } from '../mail/take.ts'
import { send } from '../messages/send.ts'
import { dropDeadLetter, listDeadLetters } from '../pages/dead-letters.ts'
import { decideRelated } from '../pages/related.ts'
import { addWaiter, keepPresence } from '../presence/presence.ts'
import { ensureProject } from '../projects/projects.ts'
import { grantServer, revokeServerGrant } from '../remote-tools/grants.ts'
import { createTask, endTask } from '../tasks/tasks.ts'
import { createGrant, revokeGrant } from '../threads/grants.ts'
import { join, resetCursor } from '../topics/members.ts'
import { deleteTopic } from '../topics/removal.ts'
import { sync } from '../topics/sync.ts'
import { renameTopic } from '../topics/topic-admin.ts'
import { closeTopic, createTopic, reopenTopic } from '../topics/topics.ts'
import { mergeProjects, renameProject } from '../transfers/merging.ts'
import { applyRetention } from '../transfers/retention-apply.ts'

/** All but those that no verb makes as yet. */
type Made = Exclude<Event['kind'], 'agent.keyed' | 'agent.revoked'>

const project = '/srv/code/app'

eachEngine('The feed', (open) => {
  const begin = async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock, remoteTools: standInRemoteTools })
    const db = dbOf(hub)
    const as = (name: string, caller: Caller = local) => ({ caller, project, name })
    /** The changes that came of it, without their places and times. */
    const changesOf = async (work: () => Promise<unknown>) => {
      const before = (await listAll()).length
      await work()
      return (await listAll()).slice(before).map(({ id: _, tx: __, at, ...change }) => {
        expect(at).toBe(clock.now())
        return change
      })
    }
    const listAll = async (): Promise<Recorded[]> => {
      let all: Recorded[] = []
      const newest = await findLastChange(db)
      await expect
        .poll(async () => {
          all = await listChangesAfter(db, start, 1000)
          return all.some(({ id }) => id === newest) || newest === 0
        })
        .toBe(true)
      return all
    }
    return { clock, hub, as, changesOf, listAll }
  }

  verifies(
    'feed.change.says-who',
    'says of every kind of change which rows it is about, when it was, and who made it',
    async () => {
      const { clock, hub, as, changesOf, listAll } = await begin()
      const { id: projectId } = await ensureProject(hub, operator, project)
      const { id: ann } = await ensureAgent(hub, local, { project, name: 'ann' })
      const { id: bob } = await ensureAgent(hub, local, { project, name: 'bob' })
      const byLocal = { actor: 'local', projectId }
      const byOperator = { actor: 'operator', projectId }

      expect(await changesOf(() => ensureProject(hub, operator, '/srv/code/other'))).toEqual([
        { kind: 'project.created', actor: 'operator', projectId: expect.any(Number) },
      ])
      for (const [kind, confirm] of [
        ['project.linked', true],
        ['project.unlinked', false],
      ] as const) {
        const made = await changesOf(() => decideRelated(hub, operator, project, { other: '/srv/code/other', confirm }))
        expect(made).toEqual([
          { ...byOperator, kind },
          { ...byOperator, kind, projectId: expect.any(Number) },
        ])
      }
      expect(await changesOf(() => ensureAgent(hub, local, { project, name: 'cid' }))).toEqual([
        { ...byLocal, kind: 'agent.created', agentId: expect.any(Number) },
      ])
      const intro = { project, name: 'bob', program: 'p', model: 'm', task: 't' }
      expect(await changesOf(() => register(hub, operator, intro))).toEqual([
        { ...byOperator, kind: 'agent.updated', agentId: bob },
      ])
      expect(await changesOf(() => setContactPolicy(hub, as('bob', operator), 'open'))).toEqual([
        { ...byOperator, kind: 'agent.policy', agentId: bob },
      ])

      const [sent] = await changesOf(() => send(hub, as('ann'), { to: [{ name: 'bob' }], body: 'words' }))
      const message = { ...byLocal, agentId: ann, threadId: expect.any(Number), messageId: expect.any(Number) }
      expect(sent).toEqual({ ...message, kind: 'message.sent' })
      const messageId = sent?.kind === 'message.sent' ? sent.messageId : 0
      const mail = { ...byLocal, agentId: bob, messageId }
      const lent = await changesOf(async () => {
        const taken = await take(hub, as('bob'), { ...now, loanMs: 5000 })
        await taken?.putBack()
      })
      expect(lent).toEqual([
        { ...mail, kind: 'mail.lent' },
        { ...mail, kind: 'mail.returned' },
      ])
      expect(await changesOf(() => markRead(hub, as('bob'), messageId))).toEqual([{ ...mail, kind: 'mail.read' }])
      expect(await changesOf(() => acknowledgeMessage(hub, as('bob', operator), messageId))).toEqual([
        { ...mail, kind: 'mail.acknowledged', actor: 'operator' },
      ])
      await send(hub, as('ann'), { to: [{ name: 'bob' }], body: 'more' })
      expect(await changesOf(() => take(hub, as('bob'), now))).toEqual([
        { ...mail, kind: 'mail.taken', messageId: expect.any(Number) },
      ])

      await send(hub, as('ann'), { to: [{ name: 'bob' }], body: 'soon gone', ttlMs: 1000 })
      clock.advance(1000)
      const unreadInTime = await changesOf(async () => {
        const stop = keepExpiring(hub)
        clock.advance(0)
        const told = async () => (await listInbox(hub, as('ann'), { limit: 9 })).messages.length
        await expect.poll(told, { interval: 2 }).toBe(1)
        await stop()
      })
      const notice = { ...message, actor: 'hub', kind: 'message.sent', agentId: expect.any(Number) }
      expect(unreadInTime).toEqual([
        { ...mail, actor: 'hub', kind: 'mail.expired', messageId: expect.any(Number) },
        { ...byLocal, actor: 'hub', kind: 'agent.created', agentId: expect.any(Number) },
        notice,
      ])

      await send(hub, as('ann'), { to: [{ name: 'bob' }], body: 'poison' })
      expect((await take(hub, as('bob'), { ...now, loanMs: 1000 }))?.mail.body).toBe('poison')
      clock.advance(1000)
      expect(await changesOf(() => buryWorn(hub, { id: bob, projectId: byLocal.projectId, name: 'bob' }, 1))).toEqual([
        { ...mail, actor: 'hub', kind: 'mail.dead', messageId: expect.any(Number) },
        notice,
      ])
      const { letters } = await listDeadLetters(hub, person, { limit: 1 })
      const drop = () => dropDeadLetter(hub, person, letters[0]?.message.id ?? 0)
      expect(await changesOf(drop)).toMatchObject([{ kind: 'mail.dropped', agentId: bob }])

      for (const name of ['bob', 'cid']) await register(hub, operator, { project, name, roles: ['reviewer'] })
      const shared = await send(hub, as('ann'), { to: [{ name: 'any:reviewer' }], body: 'one of you' })
      const taker = shared.deliveries[0]?.agent.id === bob ? 'cid' : 'bob'
      expect(await changesOf(() => listInbox(hub, as(taker), { limit: 1 }))).toEqual([
        { ...message, kind: 'message.passed', agentId: shared.deliveries[0]?.agent.id, messageId: shared.messageId },
      ])

      const contact = { ...byLocal, agentId: bob, contactId: expect.any(Number) }
      const ask = () => requestContact(hub, as('ann'), { to: { name: 'bob' }, reason: 'we should talk' })
      expect(await changesOf(ask)).toEqual([
        { ...contact, kind: 'contact.requested' },
        { ...message, kind: 'message.sent' },
      ])
      const answer = (accept: boolean) => () => respondContact(hub, as('bob'), { from: { name: 'ann' }, accept })
      // The message about the request counts as acknowledged with the first answer.
      expect(await changesOf(answer(true))).toEqual([
        { ...contact, kind: 'contact.approved' },
        { ...mail, kind: 'mail.acknowledged', messageId: expect.any(Number) },
      ])
      expect(await changesOf(answer(false))).toEqual([{ ...contact, kind: 'contact.denied' }])

      const lease = { ...byLocal, agentId: ann, leaseId: expect.any(Number) }
      const patterns = ['src/**']
      expect(await changesOf(() => reserve(hub, as('ann'), { ...asked, patterns }))).toEqual([
        { ...lease, kind: 'lease.granted' },
      ])
      expect(await changesOf(() => renew(hub, as('ann'), { patterns, byMs: 1000 }))).toEqual([
        { ...lease, kind: 'lease.renewed' },
      ])
      expect(await changesOf(() => release(hub, as('ann'), { patterns }))).toEqual([
        { ...lease, kind: 'lease.released' },
      ])
      await reserve(hub, as('ann'), { ...asked, patterns })
      clock.advance(asked.ttlMs + 1)
      const expired = { ...lease, kind: 'lease.expired', actor: 'hub' }
      expect(await changesOf(() => sweepLeases(hub, 10))).toEqual([expired])
      await reserve(hub, as('ann'), { ...asked, patterns })
      clock.advance(asked.ttlMs + 1)
      expect(await changesOf(() => reserve(hub, as('bob'), { ...asked, patterns }))).toEqual([
        expired,
        { ...lease, kind: 'lease.granted', agentId: bob },
      ])

      const [made] = await changesOf(() => createTopic(hub, operator, project, { name: 'plan', mode: 'reuse' }))
      expect(made).toEqual({ ...byOperator, kind: 'topic.created', threadId: expect.any(Number) })
      const topic = await createTopic(hub, local, project, { name: 'plan', mode: 'reuse' })
      const thread = { ...byLocal, threadId: topic.id }
      const [mine, other] = ['ann', 'bob'].map((name) => ({ caller: local, project, key: sessionHolder(name) }))
      if (mine === undefined || other === undefined) throw new Error('there are two')
      expect(await changesOf(() => join(hub, mine, { topic, name: 'ann', token: undefined }))).toEqual([
        { ...thread, kind: 'topic.joined', agentId: ann },
      ])
      await join(hub, other, { topic, name: 'bob', token: undefined })
      expect(await changesOf(() => sync(hub, mine, topic.uid, { ...plain, outbox: [outgoing('hello')] }))).toEqual([
        { ...thread, kind: 'message.said', agentId: ann, messageId: expect.any(Number) },
      ])
      const synced = await sync(hub, other, topic.uid, plain)
      expect(await changesOf(() => synced.undo())).toEqual([{ ...thread, kind: 'cursor.returned', agentId: bob }])
      expect(await changesOf(() => resetCursor(hub, other, topic.uid, 1))).toEqual([
        { ...thread, kind: 'cursor.reset', agentId: bob },
      ])
      const { uid } = topic
      for (const [kind, work] of [
        ['topic.closed', () => closeTopic(hub, operator, project, { uid })],
        ['topic.reopened', () => reopenTopic(hub, operator, project, uid)],
        ['topic.renamed', () => renameTopic(hub, operator, topic, 'other plan')],
        ['topic.deleted', () => deleteTopic(hub, operator, topic)],
      ] as const)
        expect(await changesOf(work)).toEqual([{ ...byOperator, kind, threadId: topic.id }])

      const followed = { nonce: 'nonce', uri: 'apm2://agents', since: '', expiresAt: clock.now() + 1 }
      expect(await changesOf(() => addFollowed(hub, operator, followed))).toEqual([
        { kind: 'session.followed', actor: 'operator' },
      ])
      const task = {
        id: 'task',
        waiter: 'local',
        owner: 'operator',
        door: 'hub',
        tool: 'x',
        args: '{}',
        scope: '{}',
        ttlMs: 1000,
      }
      expect(await changesOf(() => createTask(hub, operator, { ...task, holder: 'me' }))).toEqual([
        { kind: 'task.created', actor: 'operator' },
      ])
      expect(await changesOf(() => endTask(hub, operator, { id: 'task', status: 'completed' }))).toEqual([
        { kind: 'task.ended', actor: 'operator' },
      ])
      const hubCaller = { caller: operator, project }
      const wish = { agent: { name: 'ann' }, thread: String(messageId), can: 'read', ttlMs: 1000 } as const
      const granted = { ...byOperator, agentId: ann, threadId: expect.any(Number) }
      let grantId = ''
      const grant = async () => {
        grantId = (await createGrant(hub, hubCaller, wish)).id
      }
      expect(await changesOf(grant)).toEqual([{ ...granted, kind: 'grant.created' }])
      expect(await changesOf(() => revokeGrant(hub, hubCaller, grantId))).toEqual([
        { ...granted, kind: 'grant.revoked' },
      ])

      const toCall = { agent: { name: 'ann' }, server: 'tickets', ttlMs: 1000 }
      const lend = async () => {
        grantId = (await grantServer(hub, hubCaller, toCall)).id
      }
      expect(await changesOf(lend)).toEqual([{ ...byOperator, agentId: ann, kind: 'server.granted' }])
      expect(await changesOf(() => revokeServerGrant(hub, hubCaller, grantId))).toEqual([
        { actor: 'operator', agentId: ann, kind: 'server.revoked' },
      ])

      expect(await changesOf(() => endSession(hub, operator, 'nonce', clock.now() + 1))).toEqual([
        { kind: 'session.ended', actor: 'operator' },
      ])

      expect(await changesOf(() => renameProject(hub, operator, project, '/srv/code/elsewhere'))).toEqual([
        { ...byOperator, kind: 'project.renamed' },
      ])
      expect(await changesOf(() => mergeProjects(hub, operator, '/srv/code/other', '/srv/code/elsewhere'))).toEqual([
        { ...byOperator, kind: 'project.merged' },
      ])

      const waiting = async () => {
        const end = keepPresence(hub, { listens: false })
        addWaiter(hub, { agentId: ann, session: 's', via: 'claude', since: clock.now(), displaced: () => {} })
        clock.advance(100)
        await end()
      }
      const byHub = { kind: 'presence.changed', actor: 'hub', projectId: byOperator.projectId }
      expect(await changesOf(waiting)).toEqual([byHub, byHub])

      const moving = { maxAgeDays: 1, ignored: [], keep: async () => '' }
      await hub[inside].db.tx((tx) => tx.all(sql`UPDATE deliveries SET read_at = 1, acked_at = 1, ended = NULL`))
      clock.advance(2 * 86_400_000)
      const [moved] = (await changesOf(() => applyRetention(hub, operator, moving))).filter(
        ({ kind }) => kind === 'mail.retired',
      )
      expect(moved).toEqual({ ...byHub, kind: 'mail.retired', detail: expect.any(String) })

      const kinds: Record<Made, true> = {
        'project.created': true,
        'project.linked': true,
        'project.unlinked': true,
        'project.merged': true,
        'project.renamed': true,
        'agent.created': true,
        'agent.updated': true,
        'agent.policy': true,
        'message.sent': true,
        'message.said': true,
        'message.passed': true,
        'mail.taken': true,
        'mail.lent': true,
        'mail.returned': true,
        'mail.read': true,
        'mail.acknowledged': true,
        'mail.expired': true,
        'mail.dead': true,
        'mail.dropped': true,
        'contact.requested': true,
        'contact.approved': true,
        'contact.denied': true,
        'lease.granted': true,
        'lease.renewed': true,
        'lease.released': true,
        'lease.expired': true,
        'topic.created': true,
        'topic.closed': true,
        'topic.reopened': true,
        'topic.renamed': true,
        'topic.deleted': true,
        'mail.retired': true,
        'topic.joined': true,
        'cursor.reset': true,
        'cursor.returned': true,
        'grant.created': true,
        'grant.revoked': true,
        'presence.changed': true,
        'server.granted': true,
        'server.revoked': true,
        'session.ended': true,
        'session.followed': true,
        'task.created': true,
        'task.ended': true,
      }
      expect(new Set((await listAll()).map(({ kind }) => kind))).toEqual(new Set(Object.keys(kinds)))
    },
  )
})
