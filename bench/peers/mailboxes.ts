/** Mailboxes over streamable HTTP, one server for all agents: Parley's, and postal-mcp. */
import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { version } from '../../src/app/version.ts'
import { readAnswers, request } from '../drive.ts'
import { type Running, start, startParley } from '../server.ts'
import type { House, Member, System } from './member.ts'
import { install } from './python.ts'

interface Mailbox {
  readonly path: (agent: string) => string
  /** Of `check_mail`. */
  readonly waiting: Record<string, unknown>
}

export const parleyMailbox = (folder: () => string): System => ({
  name: 'Parley, the mailbox door',
  version,
  licence: 'MIT',
  notes: [
    'SQLite, WAL; a message is on the disk before its answer. Sends that arrive together share a commit. Those who wait are woken.',
  ],
  open: async () =>
    openMailbox(await startParley(folder()), {
      path: (agent) => `/agents/${agent}/mcp`,
      waiting: { wait_seconds: 50 },
    }),
})

export async function postal(folder: () => string, say: (text: string) => void): Promise<System> {
  const wanted = { name: 'postal-mcp', version: '0.1.0', module: 'aiosqlite, fastmcp, uvicorn' }
  const { python, licence, env, notes } = await install(wanted, say)
  const program = ['-m', 'uvicorn', 'postal.server:api', '--host', '127.0.0.1', '--port', '0']
  return {
    name: wanted.name,
    version: wanted.version,
    licence,
    notes: [
      'SQLite as it comes: a rollback journal and `synchronous=FULL`, so a message is on the disk before its answer, as with Parley. Those who wait look again every second.',
      'The program that it installs (`postal`) does not start; its application was served by uvicorn, one process, without a log of requests.',
      ...notes,
    ],
    open: async () => {
      // Uvicorn says on stderr where it listens, and by default ends a connection that rests for five seconds.
      const child = spawn(
        'sh',
        ['-c', 'exec "$0" "$@" 2>&1', python, ...program, '--no-access-log', '--timeout-keep-alive', '600'],
        { env: { PATH: process.env.PATH ?? '', ...env }, cwd: folder(), stdio: ['ignore', 'pipe', 'inherit'] },
      )
      const running = await start(child, /running on http:\/\/[^\s:]+:(\d+)/)
      return openMailbox(running, { path: (agent) => `/agents/${agent}/mcp/`, waiting: {} })
    },
  }
}

function openMailbox(server: Running, { path, waiting }: Mailbox): House {
  const connections: Connection[] = []
  return {
    started: [server.startedIn],
    pids: [server.pid],
    refusedJoins: 0,
    async join(name): Promise<Member> {
      const connection = await openConnection(server.port, path(name))
      connections.push(connection)
      return {
        send: async (to, msg) => {
          await connection.call('send_to_agent', { name: to, msg })
        },
        receive: () => connection.call('check_mail', waiting),
      }
    },
    close: async () => {
      for (const connection of connections) connection.close()
      await server.stop()
    },
  }
}

interface Connection {
  call(tool: string, args: object): Promise<string>
  close(): void
}

/** A keep-alive connection with an MCP session of 2025-06-18, which both servers speak. */
async function openConnection(port: number, path: string): Promise<Connection> {
  const socket = connect(port, '127.0.0.1')
  await new Promise<void>((resolve, reject) => socket.setNoDelay(true).once('connect', resolve).once('error', reject))
  const answers: ((answer: { head: string; body: string }) => void)[] = []
  readAnswers(socket, (head, body) => answers.shift()?.({ head, body }))
  socket.once('close', () => {
    for (const answer of answers.splice(0)) answer({ head: 'HTTP/1.1 000 closed', body: '' })
  })
  const headers: Record<string, string> = { Accept: 'application/json, text/event-stream' }
  const post = (message: object) => {
    socket.write(request(port, path, headers, JSON.stringify({ jsonrpc: '2.0', ...message })), 'utf8')
    return new Promise<{ head: string; body: string }>((resolve) => answers.push(resolve))
  }
  const hello = await post({
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
  })
  headers['Mcp-Session-Id'] = /\r\nmcp-session-id: (\S+)\r\n/i.exec(hello.head)?.[1] ?? ''
  headers['MCP-Protocol-Version'] = '2025-06-18'
  await post({ method: 'notifications/initialized' })
  let id = 0
  return {
    async call(name, args) {
      const { head, body } = await post({ id: ++id, method: 'tools/call', params: { name, arguments: args } })
      if (!head.startsWith('HTTP/1.1 200') || body.includes('"isError":true') || body.includes('"error":{'))
        throw new Error(`${name}: ${head.slice(0, 40)} ${body.slice(0, 300)}`)
      return body
    },
    close: () => socket.destroy(),
  }
}
