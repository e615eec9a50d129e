/** Inboxes and outboxes are exact whatever part of them is filed. */
import fc from 'fast-check'
import sql from 'sql-template-tag'
import { expect, test } from 'vitest'
import { eachEngine } from '../../test/support/engines.ts'
import { fileNext } from './boxes.ts'
import { insertDeliveries } from './deliveries.ts'
import { listInbox, listOutbox } from './mail.ts'
import { insertMessage } from './messages.ts'
import { countInboxAfter, countSent, findInboxPlace } from './retention.ts'
import { insertThread } from './threads.ts'

const agents = [1, 2, 3]

type Step = { file: number } | { from: number; to: number[]; mail: boolean }

const steps = fc.array(
  fc.oneof(
    fc.record({ file: fc.integer({ min: 1, max: 4 }) }),
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

    const take = (step: Step) =>
      db.tx(async (tx) => {
        if ('file' in step) return dialect === 'sqlite' ? void (await fileNext(tx, step.file)) : undefined
        // Clocks go back now and then: the order does not hang on them.
        const [name, now] = [`uid-${++uid}`, 1000 - (uid % 7)]
        const threadId = await insertThread(tx, { uid: name, projectId: 1, nextSeq: 2, now })
        const message = { uid: name, threadId, seq: 1, senderId: step.from, body: 'text', mail: step.mail, now }
        const messageId = await insertMessage(tx, message)
        if (!step.mail) return
        const to = step.to.map((id) => ({ id, kind: 'to' as const }))
        insertDeliveries(tx, { messageId, to, urgent: false, ackWanted: false, now })
        for (const id of step.to) inboxes.get(id)?.push(messageId)
        outboxes.get(step.from)?.push(messageId)
      })

    const agree = async () => {
      for (const id of agents) {
        const [inbox, outbox] = [inboxes.get(id) ?? [], outboxes.get(id) ?? []]
        const middle = inbox[Math.floor(inbox.length / 2)] ?? 0
        const read = async (more: object) =>
          (await listInbox(db, { recipientId: id, part: 'all', bodies: 0, limit: 1000, ...more })).map((row) => row.id)
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
        expect((await findInboxPlace(db, id, { after: 0, steps: 2 }))?.id).toBe(inbox[1])
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
