/** Sending, on both engines: threads, ids, the depth of a mailbox. */

import sql from 'sql-template-tag'
import { expect, test } from 'vitest'
import { countWaits } from '../../../test/support/counting.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, now, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { setContactPolicy } from '../contacts/links.ts'
import { type Hub, inside } from '../hub/hub.ts'
import { take } from '../mail/take.ts'
import { send } from './send.ts'

interface Placed {
  body: string
  thread_id: number
  seq: number
}

eachEngine('Sending', (open, dialect) => {
  const start = async (options = {}) => {
    const hub = await openTestHub(await (await open()).connect(), options)
    const places = () => hub[inside].db.all<Placed>(sql`SELECT body, thread_id, seq FROM messages ORDER BY id`)
    const unread = async () =>
      (
        await hub[inside].db.all<{ name: string; unread: number }>(sql`SELECT name, unread FROM agents ORDER BY name`)
      ).map(({ name, unread }) => `${name} ${unread}`)
    return { hub, places, unread }
  }

  verifies(
    ['mailbox.send.reply', 'all.engines.alike'],
    'an answer under the id of a message joins its thread',
    async () => {
      const { hub, places } = await start()
      await send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'question', clientId: 'x' })
      await send(hub, as('bob'), { to: [{ name: 'alice' }], body: 'answer', clientId: 'x' })
      const [question, answer] = await places()
      expect(answer).toEqual({ body: 'answer', thread_id: question?.thread_id, seq: 2 })
    },
  )

  test('nobody enters a thread by guessing its id', async () => {
    const { hub, places } = await start()
    await send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'between us', clientId: 'x' })
    await send(hub, as('mallory'), { to: [{ name: 'bob' }], body: 'me too', clientId: 'x' })
    await send(hub, as('alice'), { to: [{ name: 'carol' }], body: 'something else', clientId: 'x' })
    const threads = (await places()).map(({ thread_id }) => thread_id)
    expect(new Set(threads).size).toBe(3)
  })

  test('a message without an answer is a thread of its own', async () => {
    const { hub, places } = await start()
    await send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'one' })
    await send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'two' })
    const [one, two] = await places()
    expect([one?.seq, two?.seq]).toEqual([1, 1])
    expect(one?.thread_id).not.toBe(two?.thread_id)
  })

  verifies(
    'mailbox.send.idempotent',
    'retries that race each other on several connections store one message',
    async () => {
      const database = await open()
      const hubs = [await openTestHub(await database.connect()), await openTestHub(await database.connect())] as const
      const sent = await Promise.all(
        Array.from({ length: 30 }, (_, n) =>
          send(hubs[n % 2 === 0 ? 0 : 1], as('alice'), { to: [{ name: 'bob' }], body: `try ${n}`, clientId: 'x' }),
        ),
      )
      expect(sent.filter(({ duplicate }) => !duplicate).length).toBe(1)
      expect(await hubs[0][inside].db.all(sql`SELECT COUNT(*) AS n FROM messages`)).toEqual([{ n: 1 }])
      for (const hub of hubs) await hub.close()
    },
  )

  verifies(
    ['mailbox.send.idempotent', 'mailbox.send.other-words'],
    'texts that race each other under one id are stored once each, in one thread',
    async () => {
      const database = await open()
      const hubs = [await openTestHub(await database.connect()), await openTestHub(await database.connect())] as const
      const sent = await Promise.all(
        Array.from({ length: 40 }, (_, n) => {
          const draft = { to: [{ name: 'bob' }], body: `text ${n % 5}`, clientId: 'x', mayAnswer: true }
          return send(hubs[n % 2 === 0 ? 0 : 1], as('alice'), draft)
        }),
      )
      expect(sent.filter(({ duplicate }) => !duplicate).length).toBe(5)
      const ids = Array.from(
        { length: 5 },
        (_, n) => new Set(sent.filter((_, m) => m % 5 === n).map((one) => one.clientId)),
      )
      expect(ids.map(({ size }) => size)).toEqual([1, 1, 1, 1, 1])
      expect(ids.filter((one) => one.has('x'))).toHaveLength(1)
      const rows = await hubs[0][inside].db.all<Placed>(sql`SELECT thread_id, seq FROM messages ORDER BY seq`)
      expect(rows.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5])
      expect(new Set(rows.map(({ thread_id }) => thread_id)).size).toBe(1)
      for (const hub of hubs) await hub.close()
    },
  )

  test('an id that another message of the thread has is used once more, for another recipient', async () => {
    const { hub, places } = await start()
    const asked = await send(hub, as('alice'), { to: [{ name: 'bob' }, { name: 'carol' }], body: 'well?', thread: 'T' })
    const byId = { clientId: 'x', mayAnswer: true, body: 'ok' }
    await send(hub, as('bob'), { to: [{ name: 'alice' }], body: 'yes', replyTo: asked.messageId })
    await send(hub, as('carol'), { to: [{ name: 'bob' }], body: 'yes', thread: 'T' })
    const answers = String(asked.messageId)
    const first = await send(hub, as('bob'), { ...byId, to: [{ name: 'alice' }], answers })
    const toCarol = { ...byId, to: [{ name: 'carol' }], threadId: asked.threadId }
    const second = await send(hub, as('bob'), toCarol)
    expect([first.clientId, second.duplicate, second.clientId]).toEqual(['x', false, second.uid])
    expect(await send(hub, as('bob'), toCarol)).toMatchObject({ duplicate: true, clientId: second.uid })
    expect(new Set((await places()).map(({ thread_id }) => thread_id)).size).toBe(1)
  })

  test('agents and projects that are made at once on several connections are made once', async () => {
    const database = await open()
    const hubs = [await openTestHub(await database.connect()), await openTestHub(await database.connect())] as const
    await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        send(hubs[n % 2 === 0 ? 0 : 1], as('Alice', '/srv/new'), { to: [{ name: 'BOB' }], body: `${n}` }),
      ),
    )
    expect(await hubs[0][inside].db.all(sql`SELECT COUNT(*) AS n FROM agents`)).toEqual([{ n: 2 }])
    expect(await hubs[0][inside].db.all(sql`SELECT COUNT(*) AS n FROM projects WHERE slug <> 'commons'`)).toEqual([
      { n: 1 },
    ])
    for (const hub of hubs) await hub.close()
  })

  verifies('mailbox.depth.refused', 'the depth is exact also when many send at once', async () => {
    const { hub, unread } = await start({ mailboxDepth: 10 })
    const results = await Promise.allSettled(
      Array.from({ length: 25 }, (_, n) => send(hub, as('alice'), { to: [{ name: 'bob' }], body: `${n}` })),
    )
    const refused = results.filter((result) => result.status === 'rejected')
    expect(refused.length).toBe(15)
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'MAILBOX_FULL' })
    expect(await unread()).toEqual(['alice 0', 'bob 10'])
    expect(await hub[inside].db.all(sql`SELECT COUNT(*) AS n FROM messages`)).toEqual([{ n: 10 }])
    expect(await hub[inside].db.all(sql`SELECT COUNT(*) AS n FROM threads`)).toEqual([{ n: 10 }])
  })

  verifies('mailbox.depth.refused', 'the depth is exact also when many send at several nodes', async () => {
    const database = await open()
    const hubs = await Promise.all([0, 1].map(async () => openTestHub(await database.connect(), { mailboxDepth: 50 })))
    const results = await Promise.allSettled(
      Array.from({ length: 120 }, (_, n) =>
        send(hubs[n % 2] as Hub, as(`sender-${n % 20}`), { to: [{ name: 'bob' }], body: `${n}` }),
      ),
    )
    const [hub] = hubs as [Hub, Hub]
    const refused = results.filter((result) => result.status === 'rejected')
    expect(refused.length).toBe(70)
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'MAILBOX_FULL' })
    for (const table of [sql`messages`, sql`threads`, sql`deliveries`])
      expect(await hub[inside].db.all(sql`SELECT COUNT(*) AS n FROM ${table}`)).toEqual([{ n: 50 }])
    expect(await hub[inside].db.all(sql`SELECT unread FROM agents WHERE name = 'bob'`)).toEqual([{ unread: 50 }])
    for (const hub of hubs) await hub.close()
  })

  verifies('serve.store.trips', 'a send is one statement, as a pop is', async () => {
    const db = await (await open()).connect()
    const hub = await openTestHub(db)
    const draft = { to: [{ name: 'bob' }], body: 'x' }
    // The first makes both agents, and knows them from then on.
    await send(hub, as('alice'), draft)
    const waits = countWaits(db)
    await send(hub, as('alice'), draft)
    // SQLite answers at once.
    expect(waits()).toBe(dialect === 'postgres' ? 1 : 3)
    await take(hub, as('bob'), now)
    expect(waits()).toBe(dialect === 'postgres' ? 2 : 4)
  })

  verifies('serve.store.trips', 'towards known contacts too, be it several', async () => {
    const db = await (await open()).connect()
    const hub = await openTestHub(db)
    const others = ['bob', 'carol', 'dora']
    for (const name of others) {
      await send(hub, as('alice'), { to: [{ name }], body: 'x' })
      await setContactPolicy(hub, as(name), 'auto')
    }
    const drafts = [others.slice(0, 1), others].map((names) => ({ to: names.map((name) => ({ name })), body: 'x' }))
    // The first finds the ground, and stores it as contact.
    for (const draft of drafts) await send(hub, as('alice'), draft)
    for (const draft of drafts) {
      const waits = countWaits(db)
      await send(hub, as('alice'), draft)
      expect(waits()).toBe(dialect === 'sqlite' ? 3 : 1)
    }
  })

  test('every change is in the feed, in order, with the topics it wakes', async () => {
    const { hub } = await start()
    await send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'x' })
    await (await take(hub, as('bob'), now))?.putBack()
    const feed = await hub[inside].db.all<{ kind: string; wakes: string }>(
      sql`SELECT kind, wakes FROM changes ORDER BY id`,
    )
    const bob = (await hub[inside].db.all<{ id: number }>(sql`SELECT id FROM agents WHERE name = 'bob'`))[0]?.id
    const thread = (await hub[inside].db.all<{ id: number }>(sql`SELECT id FROM threads`))[0]?.id
    expect(feed).toEqual([
      { kind: 'agent.created', wakes: '' },
      { kind: 'agent.created', wakes: '' },
      { kind: 'message.sent', wakes: `mail:${bob} thread:${thread}` },
      { kind: 'mail.taken', wakes: '' },
      { kind: 'mail.returned', wakes: `mail:${bob}` },
    ])
  })
})
