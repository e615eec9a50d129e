/** A Parley that can be stopped and started again at the same address, and a peer that writes to the agents of the clients. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** So that an announcement which no turn has confirmed comes again while the script looks. */
export const confirmSeconds = 4

export interface HubServer {
  readonly url: string
  start(): Promise<void>
  stop(): Promise<void>
  close(): Promise<void>
  call(tool: string, args: object): Promise<Readonly<Record<string, unknown>>>
  /** The state of a message that has one recipient, and the route by which that was told. */
  trace(id: number): Promise<{ readonly state: string; readonly via: string }>
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

export async function openHub(root: string): Promise<HubServer> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-wake-hub-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    STORAGE_ROOT: folder,
    LOG_LEVEL: 'warn',
    WAKE_CONFIRM_SECONDS: String(confirmSeconds),
  }
  let child: ReturnType<typeof spawn> | undefined
  const hub: HubServer = {
    url,
    async start() {
      const started = spawn(process.execPath, [join(root, 'bin/parley.js'), 'serve', '--port', String(port)], {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      child = started
      for await (const line of createInterface(started.stdout)) if (/ready at http/.test(line)) return
      throw new Error('Parley ended before it was ready.')
    },
    async stop() {
      const running = child
      child = undefined
      if (running === undefined || running.exitCode !== null) return
      running.kill()
      await once(running, 'close')
    },
    async close() {
      await hub.stop()
      await rm(folder, { recursive: true, force: true })
    },
    async call(tool, args) {
      const answer = await fetch(`${url}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: args } }),
      })
      const text = await answer.text()
      const json = JSON.parse(text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '{}')) as {
        result?: { isError?: boolean; structuredContent?: Record<string, unknown> }
      }
      if (json.result?.isError || json.result?.structuredContent === undefined) throw new Error(`${tool}: ${text}`)
      return json.result.structuredContent
    },
    async trace(id) {
      const answer = await fetch(`${url}/people/trace?id=${id}`)
      const { recipients } = (await answer.json()) as {
        recipients: readonly { readonly state: string; readonly offered_via: string | null }[]
      }
      return { state: recipients[0]?.state ?? 'unknown', via: recipients[0]?.offered_via ?? '' }
    },
  }
  return hub
}
