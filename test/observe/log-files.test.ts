/** The log of a real process in a file, in the journal, and after signals. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { bareEnv, type Parley, startParley, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

const patiently = { timeout: 10_000 }

interface Line {
  readonly level: number
  readonly msg: string
  readonly reqId?: string
  readonly path?: string
}

const linesOf = (file: string): Line[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

const requestsIn = (...files: string[]): string[] =>
  files.flatMap(linesOf).flatMap(({ msg, reqId }) => (msg === 'request' && reqId !== undefined ? [reqId] : []))

async function startWithFile() {
  const storage = await temporaryFolder()
  const file = join(storage, 'parley.log')
  const parley = await startParley({ storage, env: { LOG_FILE: file, HTTP_REQUEST_LOG_ENABLED: 'true' } })
  return { storage, file, parley }
}

/** Asks without a pause until it is told to stop; resolves with how many were answered. */
function traffic({ url }: Parley) {
  let going = true
  let asked = 0
  const ask = async () => {
    for (; going; asked++) await (await fetch(`${url}/health/liveness`)).text()
  }
  const done = Promise.all([ask(), ask(), ask()])
  const stop = () => {
    going = false
    return done.then(() => asked)
  }
  return { asked: () => asked, stop }
}

verifies(
  'serve.log.file',
  'a file that is renamed under load loses no line after SIGHUP',
  async () => {
    const { file, parley } = await startWithFile()
    const load = traffic(parley)
    const old: string[] = []
    for (const n of [1, 2, 3]) {
      const before = load.asked()
      await expect.poll(() => load.asked() > before + 20, patiently).toBe(true)
      renameSync(file, `${file}.${n}`)
      old.push(`${file}.${n}`)
      parley.child.kill('SIGHUP')
      await expect.poll(() => existsSync(file), patiently).toBe(true)
    }
    const asked = await load.stop()
    expect(await parley.end()).toBe(0)
    const requests = requestsIn(...old, file)
    expect(new Set(requests).size).toBe(asked)
    expect(requests).toHaveLength(asked)
    for (const one of old) expect(linesOf(one).length).toBeGreaterThan(20)
    expect(parley.output.stderr).toBe('')
  },
  60_000,
)

verifies('serve.log.file', 'a file that is copied and cut goes on at its beginning', async () => {
  const { file, parley } = await startWithFile()
  const ask = async () => (await fetch(`${parley.url}/health/liveness`)).text()
  await ask()
  await expect.poll(() => requestsIn(file).length).toBe(1)
  copyFileSync(file, `${file}.1`)
  truncateSync(file)
  await ask()
  await expect.poll(() => requestsIn(file).length).toBe(1)
  expect(requestsIn(`${file}.1`)).toHaveLength(1)
  expect(readFileSync(file)[0]).toBe('{'.charCodeAt(0))
})

const hasLogrotate = spawnSync('logrotate', ['--version']).status === 0
if (!hasLogrotate) process.stderr.write('skipped: logrotate is not on this machine (apt-get install logrotate)\n')

test.skipIf(!hasLogrotate)('logrotate rotates it by the file of deploy/, under load', async () => {
  const { storage, file, parley } = await startWithFile()
  const shipped = readFileSync(join(root, 'deploy/logrotate/parley'), 'utf8')
  const config = join(storage, 'logrotate.conf')
  writeFileSync(
    config,
    shipped
      .replace('/var/log/parley/parley.log', file)
      .replace(/^\s*su .*$/m, '')
      .replace(/^\s*create .*$/m, 'create')
      .replace(/systemctl kill .*/, `kill -HUP ${parley.child.pid}`),
    { mode: 0o600 },
  )
  const load = traffic(parley)
  await expect.poll(() => load.asked() > 20, patiently).toBe(true)
  execFileSync('logrotate', ['--force', '--state', join(storage, 'state'), config])
  const before = load.asked()
  await expect.poll(() => load.asked() > before + 20, patiently).toBe(true)
  const asked = await load.stop()
  expect(await parley.end()).toBe(0)
  expect(requestsIn(`${file}.1`, file)).toHaveLength(asked)
})

verifies(
  'serve.log.journal',
  'each line for the journal begins with its priority, and other output has none',
  async () => {
    const storage = await temporaryFolder()
    for (const own of [true, false]) {
      const file = join(storage, `journal-${own}`)
      const descriptor = openSync(file, 'a')
      const { dev, ino } = fstatSync(descriptor)
      const stream = own ? `${dev}:${ino}` : '1:2'
      // A name that is nearly a setting: it warns of it.
      const env = bareEnv(storage, { JOURNAL_STREAM: stream, HTTP_PORT: '0', HTTP_PATHS: '/x' })
      const child = spawn(process.execPath, [join(root, 'bin/parley.js'), 'serve'], {
        env,
        cwd: storage,
        stdio: ['ignore', 'pipe', descriptor],
      })
      await new Promise((resolve) => child.stdout?.once('data', resolve))
      child.kill('SIGTERM')
      await new Promise((resolve) => child.once('close', resolve))
      const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
      const prefixes = lines.map((line) => /^(<\d>)?\{/.exec(line)?.[1])
      // The slip in a name is a warning, and the stop is told.
      expect(prefixes).toEqual(own ? ['<4>', '<6>'] : [undefined, undefined])
    }
  },
  30_000,
)

verifies('serve.log.louder', 'SIGUSR2 turns the lines of requests on', async () => {
  const parley = await startParley()
  const ask = async () => (await fetch(`${parley.url}/health/liveness`)).text()
  await ask()
  parley.child.kill('SIGUSR2')
  await parley.printed(/level debug for a while/)
  await ask()
  await parley.printed(/"msg":"request"/)
  expect(parley.output.stderr.match(/"msg":"request"/g)).toHaveLength(1)
})
