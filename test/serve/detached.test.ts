/** `parley serve --detach`, `status`, `stop` and `token`: servers that outlive the command that starts them. */
import { stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { noteRunning } from '../../src/app/running.ts'
import { version } from '../../src/app/version.ts'
import { parleyCommand } from '../support/cli.ts'
import { mailbox, type Served, serveHere, startParley, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

interface Shown {
  readonly servers: { readonly pid: number; readonly url: string; readonly ready: boolean; readonly waiting: number }[]
  readonly unread?: number
  readonly agents?: readonly { readonly name: string }[]
}

async function installation() {
  const storage = await temporaryFolder()
  const run = (...args: string[]) => parleyCommand({ storage }, args)
  return { storage, run, status: async () => JSON.parse((await run('status', '--json')).stdout) as Shown }
}

/** The same where servers are started that outlive the command. */
async function withServers() {
  const own = await installation()
  onTestFinished(async () => void (await own.run('stop')))
  return own
}

/** A server of this process, with the note by which `status` finds it. Nothing may stop what the note names: it is the test. */
async function noted(storage: string): Promise<Served> {
  const server = await serveHere({ storage })
  onTestFinished(noteRunning(storage, { url: server.url, version, started: new Date().toISOString() }))
  return server
}

verifies(
  'cli.serve.detach',
  'a server in the background is ready when the command ends, until it is stopped',
  async () => {
    const { run, status } = await withServers()
    const started = await run('serve', '--detach', '--port', '0')
    expect(started).toMatchObject({ code: 0, stdout: expect.stringMatching(/ready at http:\/\/127\.0\.0\.1:\d+ /) })
    const { servers } = await status()
    expect(servers).toMatchObject([{ ready: true, waiting: 0 }])
    expect((await fetch(`${servers[0]?.url}/health/readiness`)).status).toBe(200)
    expect(await run('stop')).toMatchObject({ code: 0, stdout: expect.stringContaining('Stopped http://') })
    await expect(fetch(`${servers[0]?.url}/health`)).rejects.toThrow()
    expect(await run('stop')).toMatchObject({ code: 0, stdout: 'No server runs on this store.\n' })
  },
)

verifies('cli.serve.detach', 'a server that cannot start is told with the end of its log', async () => {
  const { run, storage } = await withServers()
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as AddressInfo
  const { code, stderr } = await run('serve', '--detach', '--port', String(port))
  expect(code).toBe(1)
  expect(stderr).toContain(`cannot listen on 127.0.0.1:${port}: another program listens there`)
  expect(stderr).toContain(join(storage, 'serve.log'))
  // The log has the lines of every earlier server too.
  await writeFile(join(storage, 'serve.log'), 'of a server of yesterday\n')
  expect((await run('serve', '--detach', '--port', String(port))).stderr).not.toContain('of yesterday')
})

verifies('cli.serve.detach', 'a server that runs already is named, with the way to start it anew', async () => {
  const { run, storage } = await installation()
  const { port, url } = await noted(storage)
  const { code, stderr } = await run('serve', '--detach', '--port', String(port))
  expect(code).toBe(1)
  expect(stderr).toContain(`is already running at ${url} (process `)
  expect(stderr).toContain('parley stop && parley serve --detach')
})

verifies('cli.status.shown', 'a killed server is not shown, and a store without one is 3', async () => {
  const { run, storage, status } = await installation()
  expect(await run('status')).toMatchObject({ code: 3, stdout: expect.stringMatching(/^not running/) })
  const parley = await startParley({ storage })
  const send = { tool: 'send_to_agent', args: { name: 'bob', msg: 'ping' } }
  await fetch(`${parley.url}/agents/alice/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(send),
  })
  expect(await status()).toMatchObject({ servers: [{ url: parley.url, pid: parley.child.pid }], unread: 1 })
  expect(await run('status')).toMatchObject({ code: 0, stdout: expect.stringContaining('1 message\n') })
  await parley.end('SIGKILL')
  expect(await status()).toMatchObject({ servers: [] })
})

verifies(
  'cli.status.agents',
  'agents that wait are named, five at most, and calls that wait are none of them',
  async () => {
    const { run, storage, status } = await installation()
    const parley = await noted(storage)
    expect((await run('status')).stdout).toMatch(/^agents +none waits now/m)
    const names = ['Ann', 'Bob', 'Cleo', 'Dora', 'Eve', 'Finn', 'Gil']
    const ending = new AbortController()
    const call = (name: string) => [
      // Two calls of one agent are one agent.
      mailbox(parley, name, { signal: ending.signal }).check({ wait_seconds: 50 }),
      mailbox(parley, name, { signal: ending.signal }).check({ wait_seconds: 50 }),
    ]
    const waits = names.flatMap(call)
    onTestFinished(async () => {
      ending.abort()
      await Promise.allSettled(waits)
    })
    await expect.poll(async () => (await status()).agents?.length).toBe(7)
    expect((await status()).agents?.[0]).toEqual({ name: 'Ann', project: 'commons', waiting: true, via: null })
    expect((await run('status')).stdout).toMatch(/^agents +7 wait for mail: Ann, Bob, Cleo, Dora, Eve and 2 more$/m)
  },
)

verifies(
  'cli.status.shown',
  'a note that is not whole, or of another process of that number, is passed over',
  async () => {
    const { storage, status } = await installation()
    const parley = await noted(storage)
    const note = { pid: process.pid, url: 'http://127.0.0.1:1', version: '0', started: '', process: 'elsewhere/1/1' }
    await writeFile(join(storage, 'running', '1.json'), JSON.stringify(note))
    await writeFile(join(storage, 'running', '2.json'), '{"pid":')
    expect((await status()).servers).toMatchObject([{ url: parley.url }])
  },
)

verifies('cli.token.kept', 'the token of the file is what a server asks for', async () => {
  const { run, storage } = await installation()
  expect(await run('token', 'show')).toMatchObject({ code: 1, stderr: expect.stringContaining('parley token new') })
  const token = (await run('token', 'new')).stdout.trim()
  expect(token).toMatch(/^[\w-]{43}$/)
  expect((await stat(join(storage, 'operator.token'))).mode & 0o777).toBe(0o600)
  expect((await run('token', 'show')).stdout.trim()).toBe(token)
  expect(await run('token', 'new')).toMatchObject({ code: 1, stderr: expect.stringContaining('rotate') })

  const parley = await startParley({ storage, env: { HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: 'false' } })
  const asked = (bearer: string) => fetch(`${parley.url}/metrics`, { headers: { authorization: `Bearer ${bearer}` } })
  expect((await asked(token)).status).toBe(200)
  expect((await asked('another')).status).toBe(401)
  expect(JSON.parse((await run('status', '--json')).stdout)).toMatchObject({ servers: [{ waiting: 0 }] })

  const next = (await run('token', 'rotate')).stdout.trim()
  expect(next).not.toBe(token)
  expect((await run('token', 'show')).stdout.trim()).toBe(next)
  const set = await parleyCommand({ storage }, ['token', 'show'], {
    env: { HTTP_BEARER_TOKEN: 'from-the-environment' },
  })
  expect(set).toMatchObject({ code: 1, stdout: '', stderr: expect.not.stringContaining('from-the-environment') })
})
