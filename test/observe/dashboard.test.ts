/** The dashboard and the alerts of deploy/observability/: every metric in them is in a live scrape, and promtool agrees. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { alerts, metricsIn, panels } from '../../scripts/observability/table.ts'
import { serveHere } from '../support/parley.ts'
import { scrape } from '../support/scrape.ts'
import { verifies } from '../support/verifies.ts'

const folder = fileURLToPath(new URL('../../deploy/observability/', import.meta.url))

verifies(
  'serve.metrics.shown',
  'the dashboard and the alerts name metrics that exist, and all of Parley’s',
  async () => {
    const { names } = await scrape(`${(await serveHere()).url}/metrics`)
    const shown = [...panels.flatMap(({ queries }) => queries), ...alerts].flatMap(({ expr }) => metricsIn(expr))
    expect(shown.length).toBeGreaterThan(30)
    expect(shown.filter((name) => !names.has(name))).toEqual([])
    const drawn = new Set(shown.map((name) => name.replace(/_(bucket|sum|count)$/, '')))
    const own = [...names].filter((name) => name.startsWith('parley_') && !/_(bucket|sum|count)$/.test(name))
    expect(own.filter((name) => !drawn.has(name))).toEqual([])
  },
)

test('The dashboard is JSON with a panel for each row of the table', () => {
  const { panels: made } = JSON.parse(readFileSync(join(folder, 'grafana-dashboard.json'), 'utf8')) as {
    panels: { title: string }[]
  }
  expect(made.map(({ title }) => title)).toEqual(panels.map(({ title }) => title))
})

const hasPromtool = spawnSync('promtool', ['--version']).status === 0
if (!hasPromtool) process.stderr.write('skipped: promtool is not on this machine (apt-get install prometheus)\n')

test.skipIf(!hasPromtool)(
  'promtool takes the rules and the scrape, and each alert fires on a made series',
  () => {
    const promtool = (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' })
      return { status, said: `${stdout}${stderr}` }
    }
    expect(promtool('check', 'rules', 'alerts.yml')).toMatchObject({
      status: 0,
      said: expect.stringContaining(`${alerts.length} rules found`),
    })
    expect(promtool('check', 'config', '--syntax-only', 'prometheus.yml')).toMatchObject({ status: 0 })
    expect(promtool('test', 'rules', 'alerts.test.yml')).toMatchObject({ status: 0 })
  },
  30_000,
)
