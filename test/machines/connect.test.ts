/** `parley connect`: real processes between the official client and a server, in both eras, over a restart. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished } from 'vitest'
import { doorCalling, doorOf } from '../../src/app/connect.ts'
import { noteRunning } from '../../src/app/running.ts'
import { serverAt, serverSettings } from '../../src/app/server-place.ts'
import { wakerCalling } from '../../src/app/waker-calling.ts'
import { targetOf } from '../../src/doors/connect/target.ts'
import { printedBy } from '../support/cli.ts'
import { loadedBy } from '../support/loaded.ts'
import {
  bareEnv,
  type EraName,
  eras,
  mailbox,
  type Served,
  serveHere,
  temporaryFolder,
  temporaryRepository,
} from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const program = fileURLToPath(new URL('../../bin/parley.js', import.meta.url))

async function connected(home: string, era: EraName, args: string[]): Promise<Client> {
  const mode = era === '2026-07-28' ? { pin: era } : 'legacy'
  const client = new Client({ name: 'parley-test', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program, 'connect', ...args],
      env: bareEnv(home),
      cwd: home,
    }),
  )
  onTestFinished(() => client.close())
  return client
}

async function joined(parley: Served, ...args: string[]): Promise<string> {
  const home = await temporaryFolder()
  const line = await printedBy(parley, ['invite', ...args], { env: { HTTP_PUBLIC_URL: parley.url } })
  await printedBy({ storage: home }, ['join', line.trim().split(' ').at(-1) ?? '', '--yes'], {
    cwd: home,
    env: { PATH: '' },
  })
  return home
}

const call = async (client: Client, name: string, args: Record<string, unknown> = {}) =>
  (await client.callTool({ name, arguments: args })).structuredContent as { result?: unknown; error?: unknown }

for (const era of eras)
  verifies('connect.door.front', `Two owners talk by connect, with keys of invitations (${era})`, async () => {
    const parley = await serveHere()
    await mailbox(parley, 'carol').check()
    const [alice, bob] = [
      await connected(await joined(parley, 'alice'), era, ['--server', parley.url]),
      await connected(await joined(parley, 'bob'), era, ['--server', parley.url, '--agent', 'bob']),
    ]
    await call(alice, 'send_to_agent', { name: 'bob', msg: 'hello' })
    expect(await call(bob, 'check_mail')).toMatchObject({ result: { from: 'alice', content: 'hello' } })
    const waiting = call(alice, 'check_mail', { wait_seconds: 20 })
    await call(bob, 'send_to_agent', { name: 'alice', msg: 'and back' })
    expect(await waiting).toMatchObject({ result: { from: 'bob', content: 'and back' } })
    await expect(toolsOfHub(parley, era)).resolves.toContain('apm2.message.send')
  })

async function toolsOfHub(parley: Served, era: EraName): Promise<string[]> {
  const hub = await connected(await joined(parley, 'dora'), era, ['--server', parley.url, '--door', 'hub'])
  return (await hub.listTools()).tools.map(({ name }) => name)
}

verifies(
  'connect.door.front',
  'The mail door and the bus are reached by connect under a name of their own',
  async () => {
    const parley = await serveHere()
    const home = await temporaryFolder()
    const at = (...args: string[]) => ['--server', parley.url, ...args]
    const [mail, bus] = [
      await connected(home, '2026-07-28', at('--agent', 'BlueLake', '--project', '/srv/web')),
      await connected(home, '2025-11-25', at('--door', 'bus', '--agent', '日本')),
    ]
    expect(await call(mail, 'macro_start_session')).toMatchObject({
      agent: { name: 'BlueLake' },
      project: { human_key: '/srv/web' },
    })
    await call(bus, 'topic_create', { name: 'plans' })
    expect(await call(bus, 'topic_join', { name: 'plans' })).toMatchObject({ agent_name: '日本' })
  },
)

verifies(
  'connect.door.identity',
  'The mail door is told the repository; without a key the agent stands in a header',
  async () => {
    const [home, repository] = [await temporaryFolder(), await temporaryRepository()]
    const inside = join(repository, 'src')
    await mkdir(inside)
    const target = (
      { server: named, ...options }: { server?: string; door?: string; agent?: string; project?: string },
      more = {},
    ) => {
      const env = { HOME: home, STORAGE_ROOT: home, ...more }
      return targetOf(doorCalling({ ...options, server: serverAt(serverSettings(env, undefined), named) }, env, inside))
    }
    const mail = target({}, { AGENT_NAME: 'GreenCastle' })
    expect([mail.url.href, mail.headers]).toEqual([
      `http://127.0.0.1:8765/mcp?${new URLSearchParams({ project: repository })}`,
      { 'x-parley-agent': 'GreenCastle' },
    ])
    expect(target({ project: 'web', server: 'https://a.example/p/' }).url.href).toBe(
      'https://a.example/p/mcp?project=web',
    )
    expect(target({ door: 'bus', agent: 'bob' }).url.href).toBe('http://127.0.0.1:8765/bus/mcp?agent=bob')
    expect(target({ door: 'bus', agent: '日本' })).toEqual({
      url: new URL('http://127.0.0.1:8765/bus/mcp?agent=%E6%97%A5%E6%9C%AC'),
      headers: {},
    })
    expect(() => target({ door: 'mailbox' })).toThrow('needs the name')
    expect(() => target({ door: 'post', agent: 'bob' })).toThrow('The post door speaks REST and no MCP')
    // An invitation to the post door is no typed word: its agent reads the same mail at the mailbox door.
    expect(doorOf(undefined, 'post')).toBe('mailbox')
    // A key that is held says who calls.
    await mkdir(join(home, '.parley'))
    const bob = { key: 'amb_1', project: 'commons', door: 'mailbox', mailPath: '/mail-mcp' }
    const servers = { 'http://127.0.0.1:8765': { bob } }
    await writeFile(join(home, '.parley', 'credentials.json'), JSON.stringify({ servers }))
    expect(target({})).toMatchObject({ headers: { authorization: 'Bearer amb_1' } })
    expect(target({}).url.href).toBe('http://127.0.0.1:8765/agents/bob/mcp?project=commons')
    expect(target({ door: 'mail' }).url.href).toBe('http://127.0.0.1:8765/mail-mcp?project=commons')
    expect(target({ agent: 'eve', door: 'hub' }).headers).toEqual({ 'x-parley-agent': 'eve' })
  },
)

verifies('connect.server.found', 'Programs that clients start find the server as all commands do', async () => {
  const home = await temporaryFolder()
  const bare = { HOME: home, STORAGE_ROOT: home }
  const found = (more: Record<string, string> = {}) => {
    const env = { ...bare, ...more }
    const waking = wakerCalling({ words: [], options: { agent: 'bob' }, checkout: undefined }, env).server
    expect(serverAt(serverSettings(env, undefined))).toBe(waking)
    return waking
  }
  expect(found()).toBe('http://127.0.0.1:8765')
  expect(found({ HTTP_PORT: '9000', HTTP_HOST: '::', HTTP_BASE_PATH: '/parley' })).toBe('http://127.0.0.1:9000/parley')
  await mkdir(join(home, '.parley'))
  const settings = (text: string) => writeFile(join(home, '.parley', '.env'), text)
  // A fault in another setting is that of the server.
  await settings('HTTP_PORT=9001\nHTTP_WORKERS=none\n')
  expect(found()).toBe('http://127.0.0.1:9001')
  // Its certificate names the public host, and a socket is reached by the proxy before it.
  const TLS = { HTTP_TLS_CERT: '/cert.pem', HTTP_TLS_KEY: '/key.pem' }
  expect(found(TLS)).toBe('https://127.0.0.1:9001')
  expect(found({ ...TLS, HTTP_PUBLIC_URL: 'https://a.example' })).toBe('https://a.example')
  expect(() => found({ HTTP_SOCKET: '/run/parley.sock' })).toThrow('listens on a Unix socket')
  expect(found({ HTTP_SOCKET: '/run/parley.sock', HTTP_PUBLIC_URL: 'https://a.example' })).toBe('https://a.example')
  const forget = noteRunning(home, { url: 'http://127.0.0.1:9002', version: '0.1.0', started: '2026-11-19T01:00:00Z' })
  onTestFinished(forget)
  expect(found()).toBe('http://127.0.0.1:9002')
  await settings('PARLEY_SERVER=b.example:80\n')
  expect(found()).toBe('http://b.example')
  await settings('PARLEY_SERVER=b.example?x\n')
  expect(() => found()).toThrow('PARLEY_SERVER must be host:port')
})

for (const era of eras)
  verifies(
    'connect.restart.waits',
    `A call waits for a server that restarts, and the session goes on (${era})`,
    async () => {
      const first = await serveHere()
      const client = await connected(first.storage, era, [
        '--server',
        first.url,
        '--door',
        'mailbox',
        '--agent',
        'alice',
      ])
      await call(client, 'send_to_agent', { name: 'bob', msg: 'one' })
      await first.stop()
      const sending = call(client, 'send_to_agent', { name: 'bob', msg: 'two' })
      const again = await serveHere({ storage: first.storage, env: { HTTP_PORT: String(first.port) } })
      await sending
      await call(client, 'send_to_agent', { name: 'bob', msg: 'three' })
      const bob = mailbox(again, 'bob')
      const got = [await bob.check(), await bob.check(), await bob.check(), await bob.check()]
      expect(got.map((mail) => mail?.content)).toEqual(['one', 'two', 'three', undefined])
    },
  )

verifies('connect.start.light', 'It loads no database, no sharp, no pg', () => {
  const { files, libraries } = loadedBy('src/app/connect.ts')
  expect([...files].filter((file) => /\/src\/(db|store|core|archive|attachments)\//.test(file))).toEqual([])
  expect([...libraries].filter((name) => !name.startsWith('node:'))).toEqual([])
  const started = loadedBy('src/main.ts')
  expect(
    [...started.libraries].filter((name) => /^(pg|sharp|fastify|sql-template-tag|node:sqlite|pino)/.test(name)),
  ).toEqual([])
  expect([...loadedBy('src/app/mailbox.ts').libraries].filter((name) => /^(pg|sharp|fastify)/.test(name))).toEqual([])
})
