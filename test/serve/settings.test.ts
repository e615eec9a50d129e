/** Settings at work in a server: names that are nearly right, and what the log shows. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect } from 'vitest'
import { openLog } from '../../src/app/open.ts'
import { loadConfig } from '../../src/settings/read.ts'
import { parleyCommand } from '../support/cli.ts'
import { eachEngine } from '../support/engines.ts'
import { mailbox, serveLogged, startParley, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'
import { ask, openSession } from '../support/wire.ts'

verifies(
  'serve.config.strangers',
  'A server warns in its log, a command on stderr, and neither tells a value',
  async () => {
    const storage = await temporaryFolder()
    const file = join(storage, 'settings.env')
    await writeFile(file, 'HTTP_BEARER_TOKN=hush-hush\n')
    const env = { LOG_LEVL: 'hush-hush', PARLEY_ENV_FILE: file }
    const parley = await startParley({ storage, env })
    const warnings = parley.output.stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(warnings).toMatchObject([
      { level: 40, msg: `${file}: Parley knows no setting HTTP_BEARER_TOKN; the nearest is HTTP_BEARER_TOKEN.` },
      { level: 40, msg: 'The environment has LOG_LEVL, which is no setting; the nearest is LOG_LEVEL.' },
    ])
    const run = await parleyCommand({ storage }, ['acks', 'overdue', 'commons', 'alice'], { env })
    expect(run.stderr.match(/^warning: .*\n/gm)).toEqual([
      `warning: ${file}: Parley knows no setting HTTP_BEARER_TOKN; the nearest is HTTP_BEARER_TOKEN.\n`,
      'warning: The environment has LOG_LEVL, which is no setting; the nearest is LOG_LEVEL.\n',
    ])
    expect(parley.output.stdout + parley.output.stderr + run.stdout + run.stderr).not.toContain('hush')
  },
)

verifies('serve.log.requests', 'Each request is a line at level info, and holds no credential', async () => {
  const token = 'marker-token-of-the-operator'
  const parley = await serveLogged({ env: { HTTP_REQUEST_LOG_ENABLED: 'true', HTTP_BEARER_TOKEN: token } })
  const bearer = { Authorization: `Bearer ${token}` }
  const session = await openSession(`${parley.url}/agents/alice/mcp`, bearer)
  const key = `amb_${'0123456789abcdef'.repeat(4)}`
  const paths = [
    '/metrics?api_key=marker-query',
    '/metrics#marker-fragment',
    '/nothing;session=marker-parameter',
    '/nothing%3Fapi_key=marker-encoded',
    `/nothing/${key}`,
    `/nothing/${session}`,
    `http://me:marker-password@127.0.0.1:${parley.port}/metrics?token=marker-query`,
  ]
  for (const path of paths) await ask(parley, { path, headers: bearer })
  await parley.stop()
  const requests = parley.lines().filter(({ msg }) => msg === 'request')
  expect(requests[0]).toMatchObject({ level: 30, method: 'POST', path: '/agents/alice/mcp', status: 200 })
  expect(requests.slice(1).map(({ path }) => path)).toEqual(
    expect.arrayContaining(['/metrics', '/nothing', '/nothing/[secret]']),
  )
  expect(requests).toHaveLength(paths.length + 1)
  for (const secret of ['marker', key, session]) expect(parley.logged()).not.toContain(secret)
})

verifies('serve.log.requests', 'Without the setting they are not at level info', async () => {
  const parley = await serveLogged()
  await mailbox(parley, 'alice').check()
  await parley.stop()
  expect(parley.logged()).not.toContain('"msg":"request"')
})

verifies('serve.log.trace', 'Entries of level trace come whatever LOG_LEVEL says, unless that is silent', () => {
  const logged = (env: Record<string, string>) => {
    const to = new PassThrough().setEncoding('utf8')
    openLog(loadConfig(env), to).trace('a trace')
    return String(to.read() ?? '').includes('a trace')
  }
  expect(logged({ LOG_INCLUDE_TRACE: 'true', LOG_LEVEL: 'warn' })).toBe(true)
  expect(logged({ LOG_LEVEL: 'debug' })).toBe(false)
  expect(logged({ LOG_LEVEL: 'trace' })).toBe(true)
  expect(logged({ LOG_INCLUDE_TRACE: 'true', LOG_LEVEL: 'silent' })).toBe(false)
})

eachEngine('DATABASE_ECHO', (open) => {
  verifies('serve.log.statements', 'shows each statement at level debug, and no value of any', async () => {
    const { url } = await open()
    const started = async (LOG_LEVEL: string) => {
      const parley = await serveLogged({ env: { DATABASE_URL: url, DATABASE_ECHO: 'true', LOG_LEVEL } })
      await mailbox(parley, 'alice').send('bob', 'marker-body', `marker-${LOG_LEVEL}`)
      expect(await mailbox(parley, 'bob').check()).toMatchObject({ content: 'marker-body' })
      await parley.stop()
      return parley.logged()
    }
    const loud = await started('debug')
    expect(loud).toMatch(/"level":20,.*"sql":"[^"]*INSERT INTO messages \(.*"msg":"statement"/)
    expect(loud).toMatch(/"sql":"SELECT /)
    expect(loud).not.toContain('marker')
    expect(await started('info')).not.toContain('INSERT INTO')
  })
})
