/** Inboxes, unread mail and outboxes are exact whatever part of them is filed. */
import fc from 'fast-check'
import sql from 'sql-template-tag'
import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { local } from '../../core/access/callers.ts'
import { pageSight } from '../../core/access/rules.ts'
import { updateUnread } from '../agents/agents.ts'
import {
  hasFreeDelivery,
  insertDeliveries,
  listUnreadIds,
  takeDelivery,
  updateReturned,
} from '../messages/deliveries.ts'
import { insertMessage } from '../messages/messages.ts'
import { countLate, listLate } from '../pages/late-mail.ts'
import { listBox, listMailIds } from '../pages/message-lists.ts'
import { insertThread } from '../threads/threads.ts'
import { fileDeliveries, fileMessages } from './boxes.ts'
import { listUnreadThreads } from './conversation-lists.ts'
import { listInbox, listOutbox } from './mail.ts'
import { countInboxAfter, countSent, findInInbox } from './mail-totals.ts'
import { listUnreadMessages } from './unread.ts'

const agents = [1, 2, 3]

/** `takes` gives the agent its oldest unread message; `putsBack` returns the message taken last. */
type Step =
  | { file: number; of: 'deliveries' | 'messages' }
  | { takes: number }
  | { putsBack: true }
  | { from: number; to: number[]; mail: boolean }

const steps = fc.array(
  fc.oneof(
    fc.record({
      file: fc.integer({ min: 1, max: 4 }),
      of: fc.constantFrom('deliveries' as const, 'messages' as const),
    }),
    fc.record({ takes: fc.constantFrom(...agents) }),
    fc.record({ putsBack: fc.constant(true as const) }),
    fc.record({
      from: fc.constantFrom(...agents),
      to: fc.uniqueArray(fc.constantFrom(...agents), { minLength: 1 }),
      mail: fc.boolean(),
    }),
  ),
  { minLength: 10, maxLength: 25 },
)

eachEngine('Boxes', (open, dialect) => {
  test('have every message in the order of the ids, after any steps of filing', async () => {
    const db = await (await open()).connect()
    let uid = 0
    await db.tx(async (tx) => {
      for (const id of agents)
        await tx.change(
          sql`INSERT INTO agents (id, project_id, name, name_key, created_at) VALUES (${id}, 1, ${`a${id}`}, ${`a${id}`}, 0)`,
        )
    })
    const inboxes = new Map<number, number[]>(agents.map((id) => [id, []]))
    const outboxes = new Map<number, number[]>(agents.map((id) => [id, []]))
    const waiting = new Map<number, number[]>(agents.map((id) => [id, []]))
    let taken: { agent: number; messageId: number; deliveryId: number } | undefined

    const take = (step: Step) =>
      db.tx(async (tx) => {
        if ('file' in step) {
          if (dialect === 'sqlite') await (step.of === 'messages' ? fileMessages : fileDeliveries)(tx, step.file)
          return
        }
        if ('takes' in step) {
          const agent = step.takes
          const row = await takeDelivery(tx, { recipientId: agent, now: 5, hold: 'hold', heldUntil: undefined })
          expect(row?.message_id).toBe(waiting.get(agent)?.shift())
          if (row === undefined) return
          updateUnread(tx, agent, -1)
          taken = { agent, messageId: row.message_id, deliveryId: row.delivery_id }
          return
        }
        if ('putsBack' in step) {
          if (taken === undefined) return
          expect(await updateReturned(tx, { id: taken.deliveryId, hold: 'hold', readAt: 5 })).toBe(true)
          updateUnread(tx, taken.agent, 1)
          waiting.set(
            taken.agent,
            [taken.messageId, ...(waiting.get(taken.agent) ?? [])].sort((a, b) => a - b),
          )
          taken = undefined
          return
        }
        // Clocks go back now and then: the order does not hang on them.
        const [name, now] = [`uid-${++uid}`, 1000 - (uid % 7)]
        const threadId = await insertThread(tx, { uid: name, projectId: 1, nextSeq: 2, now })
        const message = { uid: name, threadId, seq: 1, senderId: step.from, body: 'text', mail: step.mail, now }
        const messageId = await insertMessage(tx, message)
        if (!step.mail) return
        const to = step.to.map((id) => ({ id, kind: 'to' as const }))
        insertDeliveries(tx, { messageId, to, now })
        for (const id of step.to) {
          updateUnread(tx, id, 1)
          for (const box of [inboxes, waiting]) box.get(id)?.push(messageId)
        }
        outboxes.get(step.from)?.push(messageId)
      })

    const people = pageSight(local)

    const agree = async () => {
      const unread = [...waiting.values()].flat()
      const newest = [...new Set(unread)].sort((a, b) => b - a)
      for (const projectId of [undefined, 1]) {
        const late = { view: 'unread', sight: people, projectId, sentBefore: 2000 } as const
        expect(await listLate(db, { ...late, limit: 1000 })).toEqual(newest)
        expect(await listLate(db, { ...late, below: newest[1] ?? 0, limit: 2 })).toEqual(newest.slice(2, 4))
        expect(await countLate(db, { ...late, most: 1000 })).toEqual({ messages: newest.length, more: false })
        expect(await listMailIds(db, people, { projectId, unread: true, limit: 1000 })).toEqual(newest)
      }
      for (const id of agents) {
        const own = waiting.get(id) ?? []
        expect(await listUnreadIds(db, id, 1000)).toEqual(own)
        expect(await hasFreeDelivery(db, id, 5)).toBe(own.length > 0)
        expect((await listUnreadMessages(db, { agentId: id, after: 0, limit: 3 })).map((row) => row.id)).toEqual(
          own.slice(0, 3),
        )
        expect((await listUnreadThreads(db, id)).map((row) => row.top).sort((a, b) => a - b)).toEqual(own)
        const page = { agentId: id, box: 'inbox', unread: true, sight: people, offset: 1, limit: 2 } as const
        expect((await listBox(db, page)).map((row) => row.id)).toEqual([...own].reverse().slice(1, 3))
        const [inbox, outbox] = [inboxes.get(id) ?? [], outboxes.get(id) ?? []]
        const middle = inbox[Math.floor(inbox.length / 2)] ?? 0
        const read = async (more: object) =>
          (await listInbox(db, { recipientId: id, part: 'all', bodies: 0, limit: 1000, now: 0, ...more })).map(
            (row) => row.id,
          )
        expect(await read({})).toEqual([...inbox].reverse())
        expect(await read({ limit: 2 })).toEqual([...inbox].reverse().slice(0, 2))
        expect(await read({ oldestFirst: true, after: middle, limit: 3 })).toEqual(
          inbox.filter((message) => message > middle).slice(0, 3),
        )
        const sent = await listOutbox(db, { senderId: id, bodies: 0, limit: 1000 })
        expect(sent.map((row) => row.id)).toEqual([...outbox].reverse())
        expect(await countInboxAfter(db, { recipientId: id, after: middle, most: 1000 })).toBe(
          inbox.filter((message) => message > middle).length,
        )
        expect((await findInInbox(db, id, { after: 0, steps: 2 }))?.id).toBe(inbox[1])
        expect(await countSent(db, { senderId: id, after: 0, time: 0, most: 1000 })).toEqual({
          count: outbox.length,
          old: 0,
          last: outbox.at(-1) ?? 0,
        })
      }
    }

    await fc.assert(
      fc.asyncProperty(steps, async (run) => {
        for (const step of run) await take(step)
        await agree()
      }),
      { numRuns: 12 },
    )
  })
})
