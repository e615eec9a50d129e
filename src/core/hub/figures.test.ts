/** The gauges that are counted in the background, on both engines: quotas, overdue mail, projects, and mail that agents are told of. */
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, openTestHub, usualRules } from '../../../test/support/hub.ts'
import { readableLog } from '../../../test/support/logged.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { agentCaller, operator } from '../access/callers.ts'
import { findQuotas } from '../mail/quotas.ts'
import { send } from '../messages/send.ts'
import { announce, confirmAnnounced } from '../presence/announce.ts'
import { countFigures, createFigures } from './figures.ts'
import { inside } from './hub.ts'

eachEngine('The figures of the metrics', (open) => {
  const start = async (rules: Parameters<typeof openTestHub>[1] = {}) => {
    const clock = new TestClock()
    const { log, lines } = readableLog()
    const hub = await openTestHub(await (await open()).connect(), { clock, log, ...rules })
    const mail = (to: string, more: { ackRequired?: boolean } = {}) =>
      send(hub, as('ann'), { to: [{ name: to }], body: 'hello', ...more })
    const metric = async (start: string) => {
      const found = (await hub.metrics.meters.text()).split('\n').find((line) => line.startsWith(`${start} `))
      return found === undefined ? undefined : Number(found.split(' ').at(-1))
    }
    return { clock, hub, lines, mail, metric }
  }

  verifies('mail.quota.shown', 'an inbox near its quota, full, and with room again', async () => {
    const attachments = { ...usualRules.attachments, quotaBytes: 1000 }
    const { clock, hub, lines, mail, metric } = await start({ rules: { inboxQuota: 5, attachments } })
    const near = () => lines.filter(({ event }) => event === 'quota_near')
    const look = async () => {
      clock.advance(300_001)
      await countFigures(hub, { byProject: false })
    }
    for (let n = 0; n < 3; n++) await mail('bob')
    await look()
    expect([await metric('parley_inboxes_over_quota'), await metric('parley_quota_near{quota="inbox"}')]).toEqual([
      0,
      undefined,
    ])
    expect(near()).toEqual([])
    await mail('bob')
    await look()
    expect(await metric('parley_quota_near{quota="inbox"}')).toBe(1)
    expect(near()).toMatchObject([{ level: 40, quota: 'inbox', limit: 5, inboxes: 1, full: 0 }])
    await mail('bob')
    await hub[inside].db.tx((tx) => tx.all(sql`UPDATE projects SET attachment_bytes = 900 WHERE slug = 'commons'`))
    await look()
    await look()
    expect(await metric('parley_inboxes_over_quota')).toBe(1)
    expect(near()).toMatchObject([{ quota: 'inbox' }, { quota: 'attachments', project: 'commons', bytes: 900 }])
    expect(await findQuotas(hub, operator)).toEqual({
      inboxes: { limit: 5, near: 1, full: 1 },
      attachments: { limit: 1000, near: 1, projects: [{ project: 'commons', bytes: 900 }] },
    })
    const { attachments: shown } = await findQuotas(hub, agentCaller({ id: 1, projectId: 1 }))
    expect(shown).toEqual({ limit: 1000, near: 1, projects: undefined })
    await hub.close()
  })

  verifies('mail.quota.inbox', 'an inbox that was full takes mail again once old mail has left it', async () => {
    const { clock, hub, mail } = await start({ rules: { inboxQuota: 300 } })
    for (let n = 0; n < 300; n++) await mail('bob')
    clock.advance(20_000)
    const refused = await mail('bob').catch((error: { code: string }) => error.code)
    expect(refused).toBe('QUOTA_EXCEEDED')
    await hub[inside].db.tx((tx) => tx.all(sql`DELETE FROM deliveries WHERE message_id % 2 = 0`))
    clock.advance(60_001)
    expect((await mail('bob')).messageId).toBeGreaterThan(0)
    await hub.close()
  })

  verifies('serve.metrics.hub', 'mail is overdue until it is acknowledged, also once it was escalated', async () => {
    const { clock, hub, mail, metric } = await start()
    await mail('bob', { ackRequired: true })
    await mail('bob', { ackRequired: true })
    clock.advance(usualRules.overdueMs + 1)
    const overdue = async () => {
      await countFigures(hub, { byProject: false })
      return metric('parley_mail_overdue')
    }
    expect(await overdue()).toBe(2)
    await hub[inside].db.tx((tx) => tx.all(sql`UPDATE deliveries SET escalated_at = 1`))
    expect(await overdue()).toBe(2)
    await hub[inside].db.tx((tx) => tx.all(sql`UPDATE deliveries SET acked_at = 1 WHERE message_id = 1`))
    expect(await overdue()).toBe(1)
    await hub.close()
  })

  verifies('serve.metrics.projects', 'projects are told apart only where that is wished', async () => {
    const { hub, mail, metric } = await start()
    await mail('bob')
    await countFigures(hub, { byProject: false })
    expect(await metric('parley_project_unread{project="commons"}')).toBeUndefined()
    await countFigures(hub, { byProject: true })
    expect(await metric('parley_project_unread{project="commons"}')).toBe(1)
    await hub.close()
  })

  verifies('serve.metrics.behind', 'counts are kept for five seconds, and tried again after a failure', async () => {
    const { clock, hub, lines, mail, metric } = await start()
    await mail('bob')
    const { db } = hub[inside]
    const figures = createFigures(hub, { byProject: false })
    const full = async (limit: number) => {
      await db.tx((tx) => tx.all(sql`UPDATE agents SET unread = ${limit} WHERE name = 'bob'`))
      await figures()
      return metric('parley_mailboxes_full')
    }
    expect(await full(hub.limits.mailboxDepth)).toBe(1)
    expect(await full(0)).toBe(1)
    clock.advance(5000)
    expect(await full(0)).toBe(0)
    clock.advance(5000)
    await db.tx((tx) => tx.all(sql`ALTER TABLE leases RENAME TO mislaid`))
    expect(await full(hub.limits.mailboxDepth)).toBe(0)
    expect(lines.filter(({ level }) => level === 40)).toMatchObject([
      { msg: /the figures of the metrics could not be/ },
    ])
    await db.tx((tx) => tx.all(sql`ALTER TABLE mislaid RENAME TO leases`))
    expect(await full(hub.limits.mailboxDepth)).toBe(1)
    await hub.close()
  })

  verifies('serve.metrics.pushes', 'mail that an agent is told of, by route and outcome', async () => {
    const { hub, mail, metric } = await start()
    await mail('bob')
    const route = { via: 'claude', session: 'window' }
    await announce(hub, as('bob'), route)
    await confirmAnnounced(hub, as('bob'), 'window')
    await mail('bob')
    const lost = await announce(hub, as('bob'), { ...route, via: 'a client with a name of its own' })
    await lost?.putBack()
    const pushes = (labels: string) => metric(`parley_pushes_total{${labels}}`)
    expect(await pushes('route="claude",outcome="told"')).toBe(1)
    expect(await pushes('route="claude",outcome="confirmed"')).toBe(1)
    expect(await pushes('route="other",outcome="told"')).toBe(1)
    expect(await pushes('route="other",outcome="returned"')).toBe(1)
    await hub.close()
  })
})
