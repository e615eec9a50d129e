/** The retention report and the cleanup of leases. */

import sql, { type Sql } from 'sql-template-tag'
import { expect, onTestFinished } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, now, openTestHub } from '../../../test/support/hub.ts'
import { readableLog } from '../../../test/support/logged.ts'
import { verifies } from '../../../test/support/verifies.ts'
import type { Db } from '../../db/port.ts'
import { local } from '../access/callers.ts'
import { activity } from '../agents/activity.ts'
import { type Chore, keepChores } from '../hub/chores.ts'
import { type Hub, inside } from '../hub/hub.ts'
import { leaseCleanupChore } from '../leases/cleanup.ts'
import { listLeases, reserve } from '../leases/leases.ts'
import { send } from '../messages/send.ts'
import { type RetentionRules, retentionChore } from './retention-report.ts'
import { take } from './take.ts'

const day = 86_400_000

eachEngine('The retention report', (open) => {
  const start = async (watch: (db: Db) => Db = (db) => db) => {
    const clock = new TestClock()
    const { log, lines } = readableLog()
    const hub = await openTestHub(watch(await (await open()).connect()), { clock, log })
    return { clock, hub, reports: () => lines.filter(({ event }) => event === 'retention_report') }
  }

  /** Runs a chore once, as soon as it is due. */
  const run = async (hub: Hub, clock: TestClock, chore: Chore) => {
    await activity(hub).write()
    const stop = keepChores(hub, [chore], 'only')
    onTestFinished(stop)
    clock.advance(5000)
    await expect.poll(() => clock.pending, { interval: 1, timeout: 10_000 }).toBe(1)
    await stop()
  }

  const report = (rules: Partial<RetentionRules> = {}) =>
    retentionChore({ everyMs: 3_600_000, maxAgeDays: 180, ignored: [], inboxLimit: 0, ...rules })

  const mail = (hub: Hub, project: string, to: string[], from = 'ann') =>
    send(hub, as(from, project), { to: to.map((name) => ({ name })), body: 'hello' })

  verifies('mail.retention.report', 'tells of each project what it holds, and deletes nothing', async () => {
    const { clock, hub, reports } = await start()
    for (let n = 0; n < 3; n++) await mail(hub, '/srv/code/backend', ['bob', 'carol'])
    await take(hub, as('bob', '/srv/code/backend'), now)
    clock.advance(181 * day)
    await mail(hub, '/srv/code/backend', ['bob'])
    await mail(hub, '/srv/code/frontend', ['dave'], 'eve')
    await hub[inside].db.tx((tx) => tx.all(sql`UPDATE projects SET attachment_bytes = 5 WHERE slug LIKE 'frontend-%'`))
    await run(hub, clock, report({ inboxLimit: 4 }))
    expect(reports()).toMatchObject([
      { level: 30, project: 'commons', agents: 0, messages: 0, old_messages: 0, unread: 0, largest_inbox: null },
      {
        level: 40,
        project: expect.stringMatching(/^backend-/),
        agents: 3,
        messages: 4,
        old_messages: 3,
        max_age_days: 180,
        unread: 6,
        attachment_bytes: 0,
        largest_inbox: { agent: 'bob', messages: 4 },
        inbox_limit: 4,
        full_inboxes: 1,
      },
      {
        level: 30,
        project: expect.stringMatching(/^frontend-/),
        messages: 1,
        old_messages: 0,
        full_inboxes: 0,
        attachment_bytes: 5,
      },
    ])
    const [count] = await hub[inside].db.all<{ count: number }>(sql`SELECT COUNT(*) AS count FROM messages`)
    expect(Number(count?.count)).toBe(5)
  })

  verifies('mail.retention.aside', 'leaves out projects by the readable part of their slug', async () => {
    const { clock, hub, reports } = await start()
    for (const project of ['/srv/demo', '/srv/test-7', '/srv/demonstration', '/srv/Contest'])
      await mail(hub, project, ['bob'])
    await run(hub, clock, report({ ignored: ['demo', 'test*', 'COMM*S'] }))
    expect(reports().map(({ project }) => String(project).replace(/-\w{6}$/, ''))).toEqual(['demonstration', 'contest'])
  })

  verifies('mail.retention.aside', 'counts inboxes and senders of any size a bounded part at a time', async () => {
    const asked: Sql[] = []
    const { clock, hub, reports } = await start((db) => ({
      dialect: db.dialect,
      long: db.long,
      tx: (work) => db.tx(work),
      listen: (hint) => db.listen(hint),
      announce: (topics) => db.announce(topics),
      snapshot: (look) => db.snapshot(look),
      check: () => db.check(),
      close: () => db.close(),
      all(query) {
        asked.push(query)
        return db.all(query)
      },
    }))
    const { messageId } = await mail(hub, 'commons', ['bob'])
    const total = 25_000
    await hub[inside].db.tx(async (tx) => {
      await tx.all(sql`
        INSERT INTO messages (uid, thread_id, seq, sender_id, body, created_at)
        SELECT 'm' || n.n, m.thread_id, n.n, m.sender_id, '', m.created_at
        FROM messages m, (
          WITH RECURSIVE numbers (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${total}) SELECT n FROM numbers
        ) AS n WHERE m.id = ${messageId}`)
      // Many of the same moment: the place in an inbox is more than a time.
      await tx.all(sql`
        INSERT INTO deliveries (message_id, recipient_id, kind, sent_at)
        SELECT m.id, d.recipient_id, 'to', d.sent_at FROM messages m, deliveries d
        WHERE m.id > ${messageId} AND d.message_id = ${messageId}`)
    })
    asked.length = 0
    await run(hub, clock, report())
    expect(reports()).toMatchObject([{ messages: total, largest_inbox: { agent: 'bob', messages: total } }])
    const counting = asked.filter(({ sql }) => /FROM (messages|deliveries)/.test(sql) && !/MAX\(id\) AS id/.test(sql))
    expect(counting.length).toBeGreaterThan(6)
    for (const { sql, values } of counting) {
      if (/(LIMIT|OFFSET) \?/.test(sql)) expect(values.at(-1)).toBeLessThanOrEqual(10_000)
      else expect(sql).toMatch(/LIMIT 1$/)
    }
  })

  verifies('mail.lease.cleanup', 'the cleanup releases what has expired, and nothing else', async () => {
    const { clock, hub } = await start()
    const ask = (name: string, ttlMs: number) =>
      reserve(hub, as(name), {
        patterns: Array.from({ length: 150 }, (_, n) => `${name}/${n}.ts`),
        exclusive: true,
        reason: '',
        ttlMs,
        onConflict: 'grant',
      })
    await ask('ann', 1000)
    await ask('bob', 1000)
    await ask('carol', day)
    clock.advance(2000)
    const released = () => hub[inside].db.all(sql`SELECT id FROM leases WHERE released_at IS NOT NULL`)
    expect(await released()).toEqual([])
    await run(hub, clock, leaseCleanupChore(60_000))
    expect((await released()).length).toBe(300)
    expect((await listLeases(hub, local, 'commons', { activeOnly: true, limit: 1000 })).leases).toHaveLength(150)
  })
})
