/** Looking after topics: finding, renaming and removing them, reading them and writing into them from outside. */
import sql, { join as list, raw } from 'sql-template-tag'
import { expect, test } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, openTestHub } from '../../../test/support/hub.ts'
import { plain as syncing } from '../../../test/support/topics.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { commons } from '../../base/names.ts'
import { listDeletedThreads, updateAsDeleted } from '../../store/threads/removal.ts'
import { updateStatus } from '../../store/threads/threads.ts'
import { local } from '../access/callers.ts'
import { countUnread, ensureAgent } from '../agents/agents.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, inside } from '../hub/hub.ts'
import { send } from '../messages/send.ts'
import { type Holder, join } from './members.ts'
import { remark } from './remarks.ts'
import { deleteTopic, finishRemovals } from './removal.ts'
import { sync } from './sync.ts'
import { needTopicCalled, renameTopic, summarizeTopics } from './topic-admin.ts'
import { closeTopic, createTopic, reopenTopic, type Topic } from './topics.ts'
import { awaitNews, findEntry, findStart, readEntries } from './transcript.ts'

eachEngine('Looking after topics', (open) => {
  const start = async (options: { waitMs?: number } = {}) => {
    const clock = new TestClock()
    const database = await open()
    const hub = await openTestHub(await database.connect(), { clock, ...options })
    const topic = await createTopic(hub, local, commons, { name: 'planning', mode: 'new' })
    return { clock, hub, topic, database }
  }

  const say = (hub: Hub, topic: Topic, body: string, replyToUid?: string) =>
    remark(hub, as('ann'), { topic, outgoing: { body, kind: 'message', replyToUid } })

  const peer = async (hub: Hub, topic: Topic, name: string): Promise<Holder> => {
    const holder = { caller: local, project: commons, key: `url:commons/${name}` }
    await join(hub, holder, { topic, name, token: undefined })
    return holder
  }

  const rows = async (hub: Hub, table: string, where = '1 = 1') => {
    const [row] = await hub[inside].db.all<{ n: number }>(
      sql`SELECT COUNT(*) AS n FROM ${raw(table)} WHERE ${raw(where)}`,
    )
    return row?.n
  }

  const kinds = async (hub: Hub) =>
    (await hub[inside].db.all<{ kind: string; wakes: string }>(sql`SELECT kind, wakes FROM changes ORDER BY id`)).slice(
      -1,
    )

  verifies('cli.topics.named', 'one is found by id or by name, an open one before a closed one', async () => {
    const { hub, topic: first } = await start()
    const second = await createTopic(hub, local, commons, { name: 'Planning', mode: 'new' })
    const found = async (called: string) => (await needTopicCalled(hub, local, commons, called)).uid
    expect(await found(first.uid)).toBe(first.uid)
    expect(await found('PLANNING ')).toBe(second.uid)
    await closeTopic(hub, local, commons, { uid: second.uid })
    expect(await found('planning')).toBe(first.uid)
    await closeTopic(hub, local, commons, { uid: first.uid })
    expect(await found('planning')).toBe(second.uid)
    await expect(found('plan')).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
    await expect(needTopicCalled(hub, local, 'elsewhere', 'planning')).rejects.toMatchObject({
      code: 'PROJECT_NOT_FOUND',
    })
    expect(await rows(hub, 'projects')).toBe(1)
    await hub.close()
  })

  verifies('cli.topics.list', 'they are listed with what is in them, the latest activity first', async () => {
    const { hub, clock, topic: first } = await start()
    await peer(hub, first, 'bob')
    clock.advance(1000)
    const second = await createTopic(hub, local, commons, { name: 'second', mode: 'new' })
    clock.advance(1000)
    await say(hub, first, 'one')
    await say(hub, first, 'two')
    expect(await summarizeTopics(hub, local, commons, 'all')).toMatchObject([
      { uid: first.uid, messages: 2, peers: 1, activeAt: clock.now() },
      { uid: second.uid, messages: 0, peers: 0, activeAt: second.createdAt },
    ])
    await closeTopic(hub, local, commons, { uid: first.uid, reason: 'done' })
    expect(await summarizeTopics(hub, local, commons, 'open')).toMatchObject([{ uid: second.uid }])
    expect(await summarizeTopics(hub, local, commons, 'closed')).toMatchObject([
      { uid: first.uid, closeReason: 'done' },
    ])
    await hub.close()
  })

  verifies('cli.topics.rename', 'a new name is taken at once, unless an open topic has it', async () => {
    const { hub, topic } = await start()
    const other = await createTopic(hub, local, commons, { name: 'Other', mode: 'new' })
    await expect(renameTopic(hub, local, topic, 'other')).rejects.toThrow(
      `Another open topic is called "Other": ${other.uid}.`,
    )
    expect(await renameTopic(hub, local, topic, 'PLANNING')).toMatchObject({ uid: topic.uid, name: 'PLANNING' })
    await closeTopic(hub, local, commons, { uid: other.uid })
    await renameTopic(hub, local, topic, 'other')
    expect(await kinds(hub)).toEqual([{ kind: 'topic.renamed', wakes: `thread:${topic.id}` }])
    expect(await needTopicCalled(hub, local, commons, 'OTHER')).toMatchObject({ uid: topic.uid, name: 'other' })
    await expect(needTopicCalled(hub, local, commons, 'planning')).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
    await hub.close()
  })

  verifies('cli.topics.show', 'it is read from any place, in order, without joining', async () => {
    const { hub, topic } = await start()
    const asked = await say(hub, topic, 'number 1')
    for (let n = 2; n <= 230; n++) await say(hub, topic, `number ${n}`, n === 2 ? asked.message.uid : undefined)
    const read = async (part: { after: number; through: number }) => {
      const seqs: number[] = []
      for await (const { seq, body } of readEntries(hub, local, topic, part))
        if (body === `number ${seq}`) seqs.push(seq)
      return seqs
    }
    expect(await read({ after: 0, through: 230 })).toEqual(Array.from({ length: 230 }, (_, n) => n + 1))
    expect(await read({ after: await findStart(hub, local, topic, { count: 3 }), through: 230 })).toEqual([
      228, 229, 230,
    ])
    expect(await findStart(hub, local, topic, { count: 3, before: 3 })).toBe(0)
    expect(await findStart(hub, local, topic, { count: 3, before: 1 })).toBe(0)
    expect(await findEntry(hub, local, topic, 2)).toMatchObject({ replyToUid: asked.message.uid, replyToSeq: 1 })
    expect(await findEntry(hub, local, topic, 231)).toBeUndefined()
    expect(await rows(hub, 'cursors')).toBe(0)
    await hub.close()
  })

  verifies(
    'cli.topics.watch',
    'a follower is told of messages and of changes, however long calls may wait',
    async () => {
      const { hub, topic, database } = await start({ waitMs: 0 })
      const there = await openTestHub(await database.connect())
      const stop = new AbortController()
      const next = async (topic: Topic, after: number, act: () => Promise<unknown>) => {
        const news = awaitNews(hub, local, { topic, after, signal: stop.signal })
        await expect.poll(() => hub[inside].wakes.size).toBe(1)
        await act()
        return news
      }
      const said = await next(topic, 0, () => say(there, topic, 'hello'))
      expect(said).toMatchObject({ entries: [{ seq: 1, sender: 'ann', body: 'hello' }] })
      const closed = await next(topic, 1, () => closeTopic(there, local, commons, { uid: topic.uid, reason: 'lunch' }))
      expect(closed).toMatchObject({ entries: [], topic: { status: 'closed', closeReason: 'lunch' } })
      const opened = await next({ ...topic, status: 'closed' }, 1, () => reopenTopic(there, local, commons, topic.uid))
      expect(opened?.topic.status).toBe('open')
      expect((await next(topic, 1, () => renameTopic(there, local, topic, 'plans')))?.topic.name).toBe('plans')
      const deleted = next({ ...topic, name: 'plans' }, 1, () => deleteTopic(there, local, topic))
      await expect(deleted).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
      const last = await createTopic(hub, local, commons, { name: 'last', mode: 'new' })
      expect(await next(last, 0, async () => stop.abort())).toBeUndefined()
      expect(hub[inside].wakes.size).toBe(0)
      await there.close()
      await hub.close()
    },
  )

  verifies('cli.topics.send', 'a remark wakes peers, and leaves cursors and names alone', async () => {
    const { hub, topic } = await start()
    const bob = await peer(hub, topic, 'bob')
    const holders = () => hub[inside].db.all(sql`SELECT agent_id, holder, reclaim_token FROM name_holders`)
    const before = await holders()
    const waiting = sync(hub, bob, topic.uid, { ...syncing, waitMs: 30_000 })
    await expect.poll(() => hub[inside].wakes.size).toBe(1)
    await say(hub, topic, 'stop, please')
    expect(await waiting).toMatchObject({ received: [{ seq: 1, sender: 'ann', body: 'stop, please' }] })
    // Under the name of a peer that is there: the peer goes on, and does not get it.
    await remark(hub, as('BOB'), { topic, outgoing: { body: 'as bob', kind: 'event' } })
    expect(await holders()).toEqual(before)
    expect(await rows(hub, 'cursors')).toBe(1)
    expect(await sync(hub, bob, topic.uid, syncing)).toMatchObject({ received: [], cursor: { lastSeq: 1 } })
    await closeTopic(hub, local, commons, { uid: topic.uid })
    await expect(say(hub, topic, 'too late')).rejects.toMatchObject({ code: 'TOPIC_CLOSED' })
    await deleteTopic(hub, local, topic)
    await expect(say(hub, topic, 'much too late')).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
    await hub.close()
  })

  verifies('cli.topics.delete', 'nothing of a topic is left, and all else stays', async () => {
    const { hub, topic } = await start()
    const other = await createTopic(hub, local, commons, { name: 'other', mode: 'new' })
    for (const each of [topic, other]) await peer(hub, each, 'bob')
    const { message } = await say(hub, topic, 'question')
    await say(hub, topic, 'answer', message.uid)
    await say(hub, other, 'kept')
    await send(hub, as('ann'), { to: [{ name: 'bob' }], body: 'mail', clientId: 'm1' })
    // No door does this yet: mail about a message of a topic, and a message of another thread that answers it.
    const bob = await ensureAgent(hub, local, { project: commons, name: 'bob' })
    const inTopic = sql`(SELECT id FROM messages WHERE uid = ${message.uid})`
    await commit(hub, local, async (tx) => {
      await tx.all(sql`INSERT INTO deliveries (message_id, recipient_id) VALUES (${inTopic}, ${bob.id})`)
      await tx.all(sql`INSERT INTO client_ids VALUES (${bob.id}, 'c', ${bob.id}, ${inTopic})`)
      await tx.all(sql`UPDATE agents SET unread = unread + 1 WHERE id = ${bob.id}`)
      await tx.all(sql`UPDATE messages SET reply_to = ${inTopic} WHERE thread_id = ${other.id}`)
    })
    const before = { agents: await rows(hub, 'agents'), holders: await rows(hub, 'name_holders') }

    await deleteTopic(hub, local, topic)
    expect(await kinds(hub)).toEqual([{ kind: 'topic.deleted', wakes: `thread:${topic.id}` }])
    for (const table of ['messages', 'cursors', 'joins'])
      expect(await rows(hub, table, `thread_id = ${topic.id}`)).toBe(0)
    expect(await rows(hub, 'threads', `id = ${topic.id}`)).toBe(0)
    expect([await rows(hub, 'deliveries'), await rows(hub, 'client_ids'), await countUnread(hub)]).toEqual([1, 1, 1])
    expect(await rows(hub, 'messages', 'reply_to IS NULL')).toBe(2)
    expect(await rows(hub, 'cursors', `thread_id = ${other.id}`)).toBe(1)
    expect({ agents: await rows(hub, 'agents'), holders: await rows(hub, 'name_holders') }).toEqual(before)
    await expect(deleteTopic(hub, local, topic)).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
    await hub.close()
  })

  verifies('cli.topics.delete', 'a peer that waits learns at once that its topic is gone', async () => {
    const { hub, topic, database } = await start()
    const there = await openTestHub(await database.connect())
    const waiting = sync(hub, await peer(hub, topic, 'bob'), topic.uid, { ...syncing, waitMs: 30_000 })
    const outcome = expect(waiting).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
    await expect.poll(() => hub[inside].wakes.size).toBe(1)
    await deleteTopic(there, local, topic)
    await outcome
    await there.close()
    await hub.close()
  })

  /** As many messages as `count`, each third an answer to the one before. */
  const fill = (hub: Hub, { id, uid }: Topic, count: number) =>
    commit(hub, local, async (tx) => {
      const { id: ann } = await ensureAgent(hub, local, { project: commons, name: 'ann' })
      const values = Array.from({ length: count }, (_, n) => sql`(${`${uid}-${n}`}, ${id}, ${n + 1}, ${ann}, 'x', 0)`)
      await tx.all(sql`INSERT INTO messages (uid, thread_id, seq, sender_id, body, created_at) VALUES ${list(values)}`)
      await tx.all(sql`UPDATE messages SET reply_to = id - 1 WHERE thread_id = ${id} AND seq % 3 = 0`)
      await tx.all(sql`UPDATE threads SET next_seq = ${count + 1} WHERE id = ${id}`)
    })

  verifies('cli.topics.delete-aside', 'a large topic goes in parts, gone for all from the first', async () => {
    const { hub, topic } = await start()
    await ensureAgent(hub, local, { project: commons, name: 'ann' })
    await fill(hub, topic, 2600)
    const left: number[] = []
    const deleting = deleteTopic(hub, local, topic).then(() => left.push(-1))
    // Each send goes in between two parts; it would come after all of them if they were one.
    while (left.at(-1) !== -1 && left.at(-1) !== 0) {
      await send(hub, as('ann'), { to: [{ name: 'bob' }], body: 'meanwhile' })
      const count = await rows(hub, 'messages', `thread_id = ${topic.id}`)
      if (count !== 2600) {
        await expect(needTopicCalled(hub, local, commons, topic.uid)).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
        expect(await summarizeTopics(hub, local, commons, 'all')).toEqual([])
      }
      left.push(count ?? 0)
    }
    await deleting
    expect(left.filter((count) => count > 0 && count < 2600).length).toBeGreaterThan(0)
    expect(await rows(hub, 'threads', `id = ${topic.id}`)).toBe(0)
    await hub.close()
  })

  verifies('cli.topics.delete-aside', 'what a removal that was cut off has left is removed by the next', async () => {
    const { hub, topic } = await start()
    await ensureAgent(hub, local, { project: commons, name: 'ann' })
    await fill(hub, topic, 700)
    await peer(hub, topic, 'bob')
    // Where the first commit of a removal leaves it.
    await commit(hub, local, async (tx) => {
      await tx.all(sql`UPDATE threads SET name = NULL, name_key = NULL, status = 'deleted' WHERE id = ${topic.id}`)
    })
    await finishRemovals(hub)
    for (const table of ['messages', 'cursors', 'joins', 'threads']) expect(await rows(hub, table)).toBe(0)
    await finishRemovals(hub)
    await hub.close()
  })

  test('closing or reopening it while a large removal begins does not bring it back', async () => {
    const { hub, topic } = await start()
    await commit(hub, local, async (tx) => {
      await updateAsDeleted(tx, topic.id)
      for (const status of ['open', 'closed'] as const)
        expect(await updateStatus(tx, topic.id, { status, closedAt: undefined, reason: undefined })).toBeUndefined()
    })
    expect(await listDeletedThreads(hub[inside].db)).toEqual([topic.id])
    await hub.close()
  })

  test('peers that write while it is deleted learn that it is gone, and leave nothing behind', async () => {
    const { hub, topic, database } = await start()
    const there = await openTestHub(await database.connect())
    let sent = 0
    const writing = ['ann', 'bob', 'carl'].map(async (name) => {
      const holder = await peer(hub, topic, name)
      for (;;) {
        await sync(hub, holder, topic.uid, { ...syncing, outbox: [{ body: 'x', kind: 'message' }] })
        sent++
      }
    })
    const ends = Promise.allSettled(writing)
    await expect.poll(() => sent).toBeGreaterThan(5)
    await deleteTopic(there, local, topic)
    const codes = (await ends).map((end) => end.status === 'rejected' && end.reason.code)
    for (const code of codes) expect(['TOPIC_NOT_FOUND', 'AGENT_NOT_JOINED']).toContain(code)
    for (const table of ['messages', 'cursors', 'joins', 'threads']) expect(await rows(hub, table)).toBe(0)
    await there.close()
    await hub.close()
  })

  test('two who delete the same topic at once do not harm each other', async () => {
    const { hub, topic, database } = await start()
    const there = await openTestHub(await database.connect())
    await ensureAgent(hub, local, { project: commons, name: 'ann' })
    await fill(hub, topic, 1100)
    const outcomes = await Promise.allSettled([deleteTopic(hub, local, topic), deleteTopic(there, local, topic)])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await finishRemovals(there)
    for (const table of ['messages', 'threads']) expect(await rows(hub, table)).toBe(0)
    await there.close()
    await hub.close()
  })
})
