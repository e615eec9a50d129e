/** Agents of different owners: registered over REST, connected, and with a `parley mailbox` of their own. */
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { createIds } from '../../src/base/ids.ts'
import { Bridge, type BridgeParts } from '../../src/doors/mailbox-client/openclaw/bridge.ts'
import { createGateway } from '../../src/doors/mailbox-client/openclaw/gateway.ts'
import { Retries } from '../../src/doors/mailbox-client/retries.ts'
import { createServer, type Server } from '../../src/doors/mailbox-client/server.ts'
import { gatewayToken } from './gateway.ts'
import { type EraName, eras, type ToolResult } from './parley.ts'

const program = fileURLToPath(new URL('../../bin/parley.js', import.meta.url))

export const [clock, ids, silent] = [systemClock, createIds(systemClock), pino({ level: 'silent' })]

export interface Owner {
  readonly name: string
  readonly key: string
  /** The REST door with its key. */
  readonly rest: Server
}

let count = 0

/** A new agent with a key. */
export async function register({ url }: { url: string }, name: string): Promise<Owner> {
  const own = `${name}-${++count}`
  const response = await fetch(`${url}/agents/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: own }),
  })
  if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`)
  const { api_key: key } = (await response.json()) as { api_key: string }
  return ownerAt({ url }, { name: own, key })
}

/** The same agent at another server. */
export const ownerAt = ({ url }: { url: string }, { name, key }: Pick<Owner, 'name' | 'key'>): Owner => ({
  name,
  key,
  rest: createServer({ url, key, clock, ids, client: `test ${++count}` }),
})

export async function pair(parley: { url: string }): Promise<[alice: Owner, bob: Owner]> {
  const [alice, bob] = [await register(parley, 'alice'), await register(parley, 'bob')]
  const { verification_code } = await alice.rest.connect(bob.name, undefined)
  await bob.rest.approve(verification_code ?? '')
  return [alice, bob]
}

export async function unreadOf({ rest }: Owner): Promise<string[]> {
  const texts: string[] = []
  for await (const { content } of rest.unread()) texts.push(content)
  return texts
}

export interface MailboxProcess {
  readonly client: Client
  readonly pid: number
  readonly log: () => string
  /** The text of a tool; an error is thrown as the client sees it. */
  call(tool: string, args?: Record<string, unknown>, signal?: AbortSignal): Promise<string>
}

export interface MailboxOptions {
  readonly url: string
  readonly key?: string
  readonly era?: EraName
  readonly env?: Record<string, string>
  readonly cwd?: string
}

/** `parley mailbox` as an MCP client starts it, with the little environment that the official one passes on. */
export async function startMailbox({
  url,
  key,
  era = eras[0],
  env = {},
  cwd = '/',
}: MailboxOptions): Promise<MailboxProcess> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'mailbox'],
    env: { MAILBOX_SERVER_URL: url, ...(key !== undefined && { MAILBOX_API_KEY: key }), ...env },
    cwd,
    stderr: 'pipe',
  })
  let log = ''
  transport.stderr?.on('data', (text) => {
    log += text
  })
  const mode = era === '2026-07-28' ? { pin: era } : ('legacy' as const)
  const client = new Client({ name: 'parley-test', version: '1.0.0' }, { versionNegotiation: { mode } })
  onTestFinished(() => client.close())
  await client.connect(transport)
  return {
    client,
    pid: transport.pid ?? 0,
    log: () => log,
    async call(name, args = {}, signal) {
      const result = (await client.callTool({ name, arguments: args }, signal && { signal })) as ToolResult
      if (result.isError) throw result.structuredContent?.error
      return result.content[0]?.text ?? ''
    },
  }
}

export interface BridgeOptions extends Partial<Pick<BridgeParts, 'mode' | 'sessionKey' | 'maxTurns' | 'clock'>> {
  /** Its name among the clients of the agent. */
  readonly client?: string
}

/** A bridge in this process. Nothing tells it of new messages but `look`. */
export function bridgeHere(
  parley: { url: string },
  { key }: Owner,
  gateway: { url: string },
  options: BridgeOptions = {},
) {
  const {
    mode = 'tool',
    sessionKey = 'agent:main:main',
    maxTurns = 20,
    client = ids.short(),
    clock: own = clock,
  } = options
  const retries = new Retries({ clock, ids, log: silent })
  const bridge = new Bridge({
    server: createServer({ url: parley.url, key, clock, ids, client }),
    gateway: createGateway({ url: gateway.url, token: gatewayToken, clock }),
    ...{ retries, clock: own, ids, log: silent, mode, sessionKey, maxTurns },
  })
  onTestFinished(async () => {
    bridge.close()
    await retries.close(1000)
  })
  return bridge
}
