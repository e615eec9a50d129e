/** How often pages ask the database, over HTTP: while nothing changes, and right after a change. A page that is read writes nothing. */
import { pino } from 'pino'
import { expect, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { createMetrics } from '../../../src/base/metrics.ts'
import type { Hub } from '../../../src/core/hub/hub.ts'
import { reserve } from '../../../src/core/leases/leases.ts'
import { findProjectCalled } from '../../../src/core/projects/projects.ts'
import { createApp } from '../../../src/doors/http/app.ts'
import { mountWeb } from '../../../src/doors/web/door.ts'
import { eachEngine, type OpenDatabase } from '../../support/engines.ts'
import { dbOf } from '../../support/feed.ts'
import { registered } from '../../support/hub.ts'
import { back, openPages } from '../../support/pages.ts'
import { verifies } from '../../support/verifies.ts'

/** The pages of a hub, and how many statements and transactions it took to read one. */
function servePages(hub: Hub) {
  const app = createApp({
    host: '127.0.0.1',
    allowedHosts: [],
    allowedOrigins: [],
    bearerToken: undefined,
    allowLocalUnauthenticated: true,
    callerOfKey: async () => undefined,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
    ready: async () => {},
    refresh: async () => {},
  })
  const ended = { has: async () => false, add: async () => {}, watch: () => () => {} }
  mountWeb(app, {
    hub,
    secret: 'a secret for these pages alone',
    token: undefined,
    ended,
    mailPath: '/mcp',
    version: '1',
  })
  onTestFinished(() => app.close())
  let asked = { statements: 0, writes: 0 }
  const db = dbOf(hub)
  for (const one of new Set([db, db.long])) {
    const all = one.all.bind(one)
    one.all = (query) => {
      asked.statements++
      return all(query)
    }
  }
  const tx = db.tx.bind(db)
  db.tx = (work, options) => {
    asked.writes++
    return tx(work, options)
  }
  return async (path: string) => {
    asked = { statements: 0, writes: 0 }
    asked = { statements: 0, writes: 0 }
    const headers = { host: '127.0.0.1', accept: 'text/html', cookie: 'parley_visitor=ann' }
    const { statusCode, body } = await app.inject({ url: path, headers })
    expect(statusCode, `${path}: ${body}`).toBe(200)
    return asked
  }
}

async function fill(open: OpenDatabase) {
  const { hub, write, say, topic, clock } = await openPages(open)
  for (let n = 0; n < 30; n++) await write('Ann', [{ name: 'Bob' }], { thread: `T-${n % 5}`, ackRequired: true })
  for (let n = 0; n < 3; n++) await say('Bob', 'hello')
  for (const name of ['Ann', 'Bob'])
    for (let n = 0; n < 10; n++)
      await reserve(hub, registered(name, back), {
        patterns: [`src/${n}/**`],
        exclusive: true,
        reason: '',
        ttlMs: 86_400_000,
        onConflict: 'grant',
      })
  const slug = (await findProjectCalled(hub, back))?.slug ?? ''
  return { hub, write, clock, slug, topic }
}

eachEngine('What pages ask the database', (open) => {
  verifies('web.pages.statements', 'a page of a project asks at most twelve times', async () => {
    const { hub, slug, topic } = await fill(open)
    const ask = servePages(hub)
    for (const page of ['inbox/Bob', 'threads', 'thread/T-1', `thread/${topic.uid}`, 'file_reservations']) {
      const path = `/mail/${slug}/${page}`
      // The first begins the marks of this person, and marks what it shows as seen.
      for (let n = 0; n < 2; n++) await ask(path)
      const { statements } = await ask(path)
      expect([page, statements > 0, statements <= 12, statements]).toEqual([page, true, true, statements])
    }
    // The most that a page of everything asks, for its lists.
    await ask(`/mail/${slug}`)
    expect((await ask(`/mail/${slug}`)).statements).toBeLessThanOrEqual(20)
    await hub.close()
  })

  verifies('web.pages.statements', 'after a change the column costs twenty more, and nothing is written', async () => {
    const { hub, slug, write } = await fill(open)
    const ask = servePages(hub)
    const afterChange = async (path: string) => {
      await ask(path)
      const { statements: before } = await ask(path)
      await write('Ann', [{ name: 'Bob' }])
      const { statements, writes } = await ask(path)
      return { more: statements - before, writes }
    }
    const { more } = await afterChange(`/mail/${slug}/contacts`)
    expect(more).toBeGreaterThan(0)
    expect(more).toBeLessThanOrEqual(20)
    for (const path of ['/mail', '/mail/projects', '/mail/attention', `/mail/${slug}`, `/mail/${slug}/activity`])
      expect([path, (await afterChange(path)).writes]).toEqual([path, 0])
    await hub.close()
  })
})
