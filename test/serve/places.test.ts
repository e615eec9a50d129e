/** Where a server listens besides a port: a Unix socket, a socket of systemd, and with TLS. */
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, readFile, stat, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { get } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished } from 'vitest'
import { noteRunning } from '../../src/app/running.ts'
import { parleyCommand } from '../support/cli.ts'
import { bareEnv, serveHere, spawnParley, startParley, temporaryFolder } from '../support/parley.ts'
import { root } from '../support/sources.ts'
import { verifies } from '../support/verifies.ts'

const program = join(root, 'bin', 'parley.js')

async function over(socketPath: string, path: string, headers: Record<string, string> = {}) {
  const asked = request({ socketPath, path, headers: { host: 'localhost', ...headers } }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return { status: answer.statusCode, body: await text(answer) }
}

verifies('serve.socket.credentials', 'no caller on it is local, and the group may connect', async () => {
  const storage = await temporaryFolder()
  const socket = join(storage, 'parley.sock')
  const token = 'a-token-of-the-operator-with-more-than-32-bytes'
  const env = { HTTP_SOCKET: socket, HTTP_BEARER_TOKEN: token }
  const killed = await spawnReady(storage, env)
  killed.child.kill('SIGKILL')
  await killed.gone
  expect((await stat(socket)).isSocket()).toBe(true)

  await serveHere({ storage, env })
  expect((await stat(socket)).mode & 0o777).toBe(0o660)
  expect(await over(socket, '/inbox')).toMatchObject({ status: 401 })
  expect(await over(socket, '/people/status')).not.toMatchObject({ status: 200 })
  expect(await over(socket, '/metrics', { authorization: `Bearer ${token}` })).toMatchObject({ status: 200 })
  expect(await parleyCommand({ storage }, ['health'], { env })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('ready'),
  })
  const note = { url: `unix://${encodeURIComponent(socket)}`, version: '0.1.0', started: '2026-11-19T01:00:00Z' }
  onTestFinished(noteRunning(storage, note))
  expect((await parleyCommand({ storage }, ['status'], { env })).stdout).toMatch(/^unread +0 messages$/m)
  await expect(serveHere({ storage, env })).rejects.toThrow(`cannot listen on ${socket}: another program listens there`)
})

async function spawnReady(storage: string, env: Record<string, string>) {
  const started = spawnParley(['serve'], bareEnv(storage, env))
  await started.printed(/is ready at/)
  return started
}

for (const args of [[], ['--workers', '2']])
  verifies(
    'serve.tls.renewed',
    ['a new certificate is used after SIGHUP, a broken one is not', ...args].join(' '),
    async () => {
      const storage = await temporaryFolder()
      const [cert, key] = [join(storage, 'cert.pem'), join(storage, 'key.pem')]
      const made = join(root, 'test', 'fixtures', 'tls')
      await copyFile(join(made, 'certificate.pem'), cert)
      await copyFile(join(made, 'key.pem'), key)
      const env = { HTTP_PORT: '0', HTTP_TLS_CERT: cert, HTTP_TLS_KEY: key }
      const { printed, child } = spawnParley(['serve', ...args], bareEnv(storage, env))
      const [, url = ''] = await printed(/ready at (https:\/\/\S+)/)
      const shown = async () => {
        const asked = get(`${url}/health/readiness`, { rejectUnauthorized: false, agent: false })
        const [answer] = (await once(asked, 'response')) as [IncomingMessage]
        answer.resume()
        return [answer.statusCode, (answer.socket as TLSSocket).getPeerCertificate().fingerprint256]
      }
      const [answered, before] = await shown()
      expect(answered).toBe(200)
      expect(await parleyCommand({ storage }, ['health'], { env })).toMatchObject({ code: 0 })
      const status = JSON.parse((await parleyCommand({ storage }, ['status', '--json'], { env })).stdout)
      expect(status).toMatchObject({ servers: [{ url, ready: true }], unread: 0 })

      await promisify(execFile)('openssl', [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'],
        ...['-subj', '/CN=localhost', '-keyout', key, '-out', cert],
      ])
      child.kill('SIGHUP')
      await printed(/was read again/)
      /** Of connections in a row: each worker has some of them. */
      const all = async () => [...new Set((await Promise.all([1, 2, 3, 4].map(shown))).map(([, print]) => print))]
      await expect.poll(all).toEqual([expect.not.stringContaining(String(before))])
      const [after] = await all()

      await writeFile(key, 'no key')
      child.kill('SIGHUP')
      await printed(/was not read again/)
      expect(await all()).toEqual([after])
    },
  )

verifies('serve.tls.renewed', 'half a setting, or a file that is not there, is a fault of the settings', async () => {
  const storage = await temporaryFolder()
  const run = (env: Record<string, string>) => parleyCommand({ storage }, ['serve'], { env })
  expect(await run({ HTTP_TLS_CERT: '/none' })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('both, or neither'),
  })
  expect(await run({ HTTP_TLS_CERT: '/none', HTTP_TLS_KEY: '/none' })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('files that can be read'),
  })
})

verifies('serve.notify.told', 'by the program of systemd, where a unit asks for it', async () => {
  const folder = await temporaryFolder()
  const told = join(folder, 'told')
  await writeFile(join(folder, 'systemd-notify'), `#!/bin/sh\necho "$NOTIFY_SOCKET $1" >> ${told}\n`, { mode: 0o755 })
  const env = { NOTIFY_SOCKET: '/run/systemd/notify', PATH: `${folder}:${process.env.PATH}` }
  const parley = await startParley({ env })
  await expect.poll(() => readFile(told, 'utf8').catch(() => '')).toBe('/run/systemd/notify --ready\n')
  expect(await parley.end()).toBe(0)
  await expect.poll(() => readFile(told, 'utf8')).toMatch(/--ready\n.* --stopping\n$/)
})

const hasActivate = spawnSync('systemd-socket-activate', ['--version']).status === 0
if (!hasActivate) process.stderr.write('skipped: systemd-socket-activate is not on this machine\n')

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

describe.skipIf(!hasActivate)('A socket of systemd', () => {
  verifies(
    'serve.socket.activated',
    'is listened on by whatever Node starts it, and no connection is refused between two servers',
    async () => {
      const [storage, port] = [await temporaryFolder(), await freePort()]
      // The shell holds the socket, as systemd does, while one server follows the other; the second begins on the Node of the PATH.
      const twice = `"${process.execPath}" ${program} serve; echo second; exec node ${program} serve`
      const env = bareEnv(storage, { HTTP_PORT: '1' })
      // It passes on few variables by itself.
      const given = Object.entries(env).flatMap(([name, value]) => ['-E', `${name}=${value}`])
      const child = spawn('systemd-socket-activate', ['-l', `127.0.0.1:${port}`, ...given, 'bash', '-c', twice], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      })
      onTestFinished(() => {
        if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
      })
      let said = ''
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (chunk: string) => {
          said += chunk
        })
      await expect.poll(() => said, { timeout: 5000 }).toContain('Listening on')
      // A connection for each: one that is kept ends with its server.
      const ready = async () => {
        const asked = request({ port, host: '127.0.0.1', path: '/health/readiness', agent: false }).end()
        const [answer] = (await once(asked, 'response')) as [IncomingMessage]
        answer.resume()
        return answer.statusCode
      }
      expect(await ready()).toBe(200)
      await expect.poll(() => said, { timeout: 10_000 }).toContain('is ready at')
      const [first] = JSON.parse((await parleyCommand({ storage }, ['status', '--json'])).stdout).servers
      process.kill(first.pid, 'SIGTERM')
      // Some are accepted by the server that ends, others wait for the second one.
      const asked = Promise.all(Array.from({ length: 20 }, ready))
      await expect.poll(() => said, { timeout: 10_000 }).toContain('\nsecond\n')
      expect(new Set([...(await asked), await ready()])).toEqual(new Set([200]))
      expect(said).not.toContain('cannot listen')
    },
    60_000,
  )
})
