/** The first hour of three people, each from nothing to the first answered message: in one repository, on two machines, and with PostgreSQL. */
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { request as ask } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, type StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished } from 'vitest'
import { engines } from '../support/engines.ts'
import { type Machine, newMachine, sharePackages } from '../support/machine.ts'
import { hostName, type Network, newNetwork } from '../support/network.ts'
import { connectClient, type EraName, eras, mailbox } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const packages = sharePackages()

/** Prints the seconds since it was called. */
function stopwatch(story: string): () => void {
  const start = performance.now()
  return () => {
    const seconds = (performance.now() - start) / 1000
    process.stdout.write(`${story}: ${seconds.toFixed(1)} s from nothing to the first answered message\n`)
    expect(seconds).toBeLessThan(60)
  }
}

/** A machine on which Claude Code is installed: `init` and `join` find its folder. */
async function withClaude(more?: Record<string, string>, network?: Network): Promise<Machine> {
  const machine = await newMachine(packages(), more, network)
  await mkdir(join(machine.home, '.claude'))
  return machine
}

interface Entry {
  readonly url: string
  readonly headers: Record<string, string>
  readonly command: string
  readonly args: string[]
}

const settingsOf = async ({ home }: Machine) =>
  JSON.parse(await readFile(join(home, '.claude.json'), 'utf8')) as {
    mcpServers: { parley: Entry }
    projects: Record<string, { mcpServers: { parley: Entry } }>
  }

/** As Claude Code does: `${NAME:-default}` from the environment of the window. */
const expanded = (text: string, env: Record<string, string>): string =>
  text.replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, otherwise = '') => env[name] ?? otherwise)

const call = async (client: Client, name: string, args: Record<string, unknown> = {}) => {
  const { structuredContent, isError, content } = await client.callTool({ name, arguments: args })
  expect({ name, isError: isError ?? false, content }).toMatchObject({ isError: false })
  return structuredContent as Record<string, unknown>
}

/** A client in a version of the protocol, over the transport that a settings file describes. */
async function opened(era: EraName, transport: StdioClientTransport | StreamableHTTPClientTransport): Promise<Client> {
  const mode = era === '2026-07-28' ? { pin: era } : 'legacy'
  const client = new Client({ name: 'claude-code', version: '2.0.0' }, { versionNegotiation: { mode } })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return client
}

verifies(
  'start.story.repository',
  'Two Claude Codes in one repository talk, and no call names agent or project',
  async () => {
    const answered = stopwatch('Two agents in one repository')
    const machine = await withClaude()
    await machine.sh('npm install --global parley-hub; parley serve --detach; git init --quiet backend')
    await machine.sh('parley init claude --yes', 'backend')
    const { url, headers } = Object.values((await settingsOf(machine)).projects)[0]?.mcpServers.parley ?? {}
    const window = (name: string, era: EraName) => {
      const filled = Object.entries(headers ?? {}).map(([header, text]) => [
        header,
        expanded(text, { AGENT_NAME: name }),
      ])
      return connectClient(url ?? '', era, Object.fromEntries(filled))
    }
    for (const era of eras) {
      const [alice, bob] = [await window('alice', era), await window('bob', era)]
      for (const { inputSchema } of (await alice.listTools()).tools)
        expect(Object.keys(inputSchema.properties ?? {})).not.toContain('project_key')
      expect(await call(alice, 'macro_start_session')).toMatchObject({ agent: { name: 'alice' } })
      expect(await call(bob, 'macro_start_session')).toMatchObject({ agent: { name: 'bob' } })
      await call(alice, 'send_message', { to: ['bob'], subject: 'Plan', body_md: `Who takes src/auth (${era})?` })
      const [asked] = (await call(bob, 'fetch_inbox', { include_bodies: true })).result as { id: number }[]
      expect(asked).toMatchObject({ from: 'alice', body_md: `Who takes src/auth (${era})?` })
      await call(bob, 'reply_message', { message_id: asked?.id, body_md: 'I do.' })
      const [answer] = (await call(alice, 'fetch_inbox', { include_bodies: true })).result as object[]
      expect(answer).toMatchObject({ from: 'bob', body_md: 'I do.' })
      if (era === eras[0]) answered()
    }
  },
  120_000,
)

/** For localhost and parley.test, signed by itself, and good for a hundred years: nothing that a test needs has to make one. */
const tls = fileURLToPath(new URL('../fixtures/tls/', import.meta.url))

const certificate = join(tls, 'certificate.pem')

/** A proxy that ends TLS and tells whom it passes on; its port. */
async function startProxy(port: number, { address, at }: { address: string; at: number }): Promise<number> {
  const secret = { key: await readFile(join(tls, 'key.pem')), cert: await readFile(certificate) }
  const proxy = createServer(secret, (request, response) => {
    const headers = { ...request.headers, 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' }
    const { method, url: path } = request
    const passed = ask({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    passed.on('error', () => response.destroy())
    response.on('close', () => passed.destroy())
    request.pipe(passed)
  }).listen(at, address)
  await once(proxy, 'listening')
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return (proxy.address() as AddressInfo).port
}

/** A network for each of two machines; none where they cannot be had, with the reason. */
function twoNetworks(): readonly (Network | undefined)[] {
  const networks = [newNetwork(), newNetwork()]
  const reason = networks.find((one) => typeof one === 'string')
  if (reason === undefined) return networks.map((one) => (typeof one === 'string' ? undefined : one))
  process.stdout.write(`Two owners on two machines: in one network, because ${reason}\n`)
  return [undefined, undefined]
}

verifies(
  'start.story.owners',
  'Two owners on two machines talk over TLS by invite, join and connect',
  async () => {
    const answered = stopwatch('Two owners on two machines')
    const networks = twoNetworks()
    const server = await newMachine(packages())
    let at = 0
    for (const network of networks.slice(0, networks[0] === undefined ? 1 : 2))
      at = await startProxy(server.port, { address: network?.address ?? '127.0.0.1', at })
    const url = `https://${networks[0] === undefined ? 'localhost' : hostName}:${at}`
    await server.sh(
      `npm install --global parley-hub; parley token new > /dev/null; echo HTTP_PUBLIC_URL=${url} >> ~/.parley/.env; parley serve --detach`,
    )
    const owner = async (name: string, era: EraName, network: Network | undefined) => {
      const line = await server.sh(`parley invite ${name}`)
      expect(line).toContain(`npx parley-hub join ${url}/join/${name}-`)
      const machine = await withClaude({ NODE_EXTRA_CA_CERTS: certificate, npm_config_yes: 'true' }, network)
      expect(await machine.sh(`${line.trim()} --yes`)).toContain(`You are ${name} at ${url}`)
      const { command, args } = (await settingsOf(machine)).mcpServers.parley
      const { home: cwd, env } = machine
      const [program = '', ...rest] = [...(network?.inside ?? []), command, ...args]
      return opened(era, new StdioClientTransport({ command: program, args: rest, env, cwd }))
    }
    const [alice, bob] = [
      await owner('alice', '2025-11-25', networks[0]),
      await owner('bob', '2026-07-28', networks[1]),
    ]
    await call(alice, 'send_to_agent', { name: 'bob', msg: 'Shall we meet?' })
    const { result } = await call(bob, 'check_mail', { wait_seconds: 20 })
    expect(result).toMatchObject({ from: 'alice', content: 'Shall we meet?' })
    const { id } = result as { id: string }
    await call(bob, 'send_to_agent', { name: 'alice', msg: 'At noon.', reply_to: id })
    expect(await call(alice, 'check_mail', { wait_seconds: 20 })).toMatchObject({
      result: { from: 'bob', content: 'At noon.' },
    })
    answered()
  },
  120_000,
)

verifies(
  'start.story.operator',
  'An operator serves from PostgreSQL with a token, and agents with keys talk',
  async () => {
    const postgres = engines().find(({ dialect }) => dialect === 'postgres')
    const database = (await postgres?.create({ empty: true })) ?? ''
    const answered = stopwatch('An operator with PostgreSQL')
    // Before the machine, so that its server has stopped when the database goes.
    onTestFinished(async () => {
      await postgres?.remove([database])
      await postgres?.stop()
    })
    const machine = await newMachine(packages())
    await writeFile(join(machine.home, '.parley', '.env'), `HTTP_PORT=${machine.port}\nDATABASE_URL=${database}\n`)
    await machine.sh('npm install --global parley-hub; parley token new > /dev/null; parley serve --detach')
    const url = `http://127.0.0.1:${machine.port}`
    const agent = async (name: string) => {
      const { key } = JSON.parse(await machine.sh(`parley keys create ${name} --json`)) as { key: string }
      return mailbox({ url }, name, { headers: { Authorization: `Bearer ${key}` } })
    }
    const [alice, bob] = [await agent('alice'), await agent('bob')]
    await alice.send('bob', 'Is the release out?')
    expect(await bob.check({ wait_seconds: 20 })).toMatchObject({ from: 'alice', content: 'Is the release out?' })
    await bob.send('alice', 'Since noon.')
    expect(await alice.check({ wait_seconds: 20 })).toMatchObject({ from: 'bob', content: 'Since noon.' })
    answered()

    const { host, pathname } = new URL(database)
    const status = await machine.sh('parley status')
    expect(status).toMatch(/^running +http/)
    expect(status).toContain(`PostgreSQL ${host}${pathname}`)
    await expect(mailbox({ url }, 'alice').check()).rejects.toMatchObject({ code: 'FORBIDDEN' })
    // The operator reads along, also what is sealed for others.
    expect(await machine.sh('parley inbox bob')).toContain('alice')
    const token = (await machine.sh('parley token show')).trim()
    const page = await fetch(`${url}/mail`, { headers: { Authorization: `Bearer ${token}`, accept: 'text/html' } })
    expect(page.status).toBe(200)
  },
  120_000,
)
