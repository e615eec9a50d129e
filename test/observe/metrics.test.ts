/** The metrics that an operator scrapes. */
import { expect } from 'vitest'
import { eachEngine } from '../support/engines.ts'
import { mailbox, serveHere } from '../support/parley.ts'
import { scrape } from '../support/scrape.ts'
import { verifies } from '../support/verifies.ts'

eachEngine('Metrics', (open, dialect) => {
  verifies(
    ['serve.metrics.hub', 'serve.metrics.behind', 'serve.metrics.waiters'],
    'tell of what the hub does',
    async () => {
      const parley = await serveHere({ env: { DATABASE_URL: (await open()).url } })
      const waiting = mailbox(parley, 'bob').check({ wait_seconds: 10 })
      await expect.poll(async () => (await scrape(`${parley.url}/metrics`)).values.get('parley_waiting')).toBe(1)
      expect((await scrape(`${parley.url}/metrics`)).values.get('parley_waiters{door="mailbox"}')).toBe(1)
      await mailbox(parley, 'alice').send('bob', 'hello')
      expect((await waiting)?.content).toBe('hello')
      await fetch(`${parley.url}/nothing`)
      const { values } = await scrape(`${parley.url}/metrics`)
      // A gauge at zero has no line.
      expect(values.get('parley_waiters{door="mailbox"}')).toBeUndefined()
      const some = (start: string) =>
        [...values].filter(([name]) => name.startsWith(start)).reduce((sum, [, one]) => sum + one, 0)
      expect(values.get('parley_requests_total{method="POST",route="/agents/:agent/mcp",status="200"}')).toBe(2)
      expect(values.get('parley_requests_total{method="",route="(none)",status="404"}')).toBe(1)
      expect(values.get('parley_commits_total')).toBeGreaterThanOrEqual(1)
      expect(values.get('parley_commit_units_count')).toBe(values.get('parley_commits_total'))
      expect(values.get('parley_commit_wait_seconds_count')).toBe(values.get('parley_commits_total'))
      expect(values.get('parley_wakes_total')).toBeGreaterThanOrEqual(2)
      expect(values.get('parley_wakes_lost_total')).toBe(0)
      expect(values.get('parley_leases_active')).toBe(0)
      expect(some('parley_build_info')).toBe(1)
      if (dialect === 'sqlite') {
        expect(values.get('parley_database_bytes{file="database"}')).toBeGreaterThan(0)
        expect(values.get('parley_disk_free_bytes')).toBeGreaterThan(0)
      } else expect(some('parley_database_connections')).toBeGreaterThan(0)
      await expect
        .poll(
          async () =>
            [...(await scrape(`${parley.url}/metrics`)).values.keys()].some((name) =>
              name.startsWith('parley_chore_runs_total{chore="feed-pruning",outcome="ok"}'),
            ),
          { timeout: 10_000 },
        )
        .toBe(true)
      await parley.stop()
    },
    20_000,
  )
})

verifies('serve.metrics.token', 'the token of the metrics opens them, on both ports, and nothing else', async () => {
  const own = 24_000 + Math.floor(Math.random() * 900)
  const parley = await serveHere({
    env: {
      HTTP_BEARER_TOKEN: 'the-operators-token',
      METRICS_TOKEN: 'the-scrapers-token',
      METRICS_PORT: String(own),
      HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: 'false',
    },
  })
  const status = async (path: string, token: string, url = parley.url, method = 'GET') =>
    (await fetch(url + path, { method, headers: { authorization: `Bearer ${token}` } })).status
  expect(await status('/metrics', 'the-scrapers-token')).toBe(200)
  expect(await status('/metrics', 'the-operators-token')).toBe(200)
  expect(await status('/metrics', 'another-token')).toBe(401)
  for (const path of ['/inbox', '/metricsx', '/people/agents', '/agents/alice/mcp', '/mail'])
    expect(await status(path, 'the-scrapers-token')).not.toBe(200)
  expect(await status('/agents/alice/mcp', 'the-scrapers-token', parley.url, 'POST')).toBe(401)
  const aside = `http://127.0.0.1:${own}`
  expect(await status('/metrics', 'the-scrapers-token', aside)).toBe(200)
  expect(await status('/metrics', 'another-token', aside)).toBe(401)
  expect(await status('/inbox', 'the-scrapers-token', aside)).toBe(404)
})
