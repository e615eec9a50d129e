/** The load as a process of its own: each line is an order, answered by a line of JSON that says what was seen. */
import { createInterface } from 'node:readline'
import { type Driver, type Load, openDriver } from './drive.ts'
import { type Era, openSession, phrase } from './phrase.ts'
import { agentOf, benchProject } from './seed-mail.ts'
import { text } from './text.ts'

export interface Order {
  port: number
  call: keyof typeof calls
  era: Era
  connections: number
  /** The number of its first connection, and so of its agents; 0 if left out. */
  first?: number
  seconds: number
  /** Of every connection, for calls that one agent makes: its name, and its credentials if it has any. */
  agent?: string
  headers?: Record<string, string>
}

interface Call {
  tool: string
  path(connection: number, agent?: string): string
  args(connection: number): Record<string, unknown>
}

/** From one of the seeded agents to the next few. */
const mailTo = (recipients: number): Call => ({
  tool: 'send_message',
  path: () => '/mcp',
  args: (connection) => ({
    project_key: benchProject,
    sender_name: agentOf(connection),
    to: Array.from({ length: recipients }, (_, n) => agentOf(connection + 1 + n)),
    subject: 'The build is green again',
    body_md: text,
  }),
})

const calls = {
  send: {
    tool: 'send_to_agent',
    path: (connection) => `/agents/sender-${connection}/mcp`,
    args: (connection) => ({ name: `reader-${connection}`, msg: text }),
  },
  sendAsOne: {
    tool: 'send_to_agent',
    path: (_connection, agent) => `/agents/${agent}/mcp`,
    args: (connection) => ({ name: `reader-${connection}`, msg: text }),
  },
  sendToOne: {
    tool: 'send_to_agent',
    path: (connection) => `/agents/sender-${connection}/mcp`,
    args: () => ({ name: 'reader-0', msg: text }),
  },
  check: { tool: 'check_mail', path: (connection) => `/agents/reader-${connection}/mcp`, args: () => ({}) },
  search: {
    tool: 'search_messages',
    path: () => '/mcp',
    args: (connection) => ({
      project_key: benchProject,
      query: connection % 2 ? 'flaky timer' : `Message ${connection * 17}`,
    }),
  },
  mail: mailTo(1),
  mailTen: mailTo(10),
  inbox: {
    tool: 'fetch_inbox',
    path: () => '/mcp',
    args: (connection) => ({
      project_key: benchProject,
      agent_name: agentOf(connection),
      limit: 20,
      include_bodies: true,
    }),
  },
} as const satisfies Record<string, Call>

/** Connections and sessions stay open from one order to the next: opening them is not what is measured. */
const drivers = new Map<string, Promise<Driver>>()
const sessions = new Map<string, Promise<string>[]>()

function kept<T>(known: Map<string, T>, key: string, make: () => T): T {
  const found = known.get(key) ?? make()
  known.set(key, found)
  return found
}

async function carryOut(order: Order): Promise<Load> {
  const { port, call, era, connections, first = 0, seconds, agent, headers = {} } = order
  const { tool, ...asked }: Call = calls[call]
  const path = (connection: number) => asked.path(first + connection, agent)
  const driver = await kept(drivers, `${port} ${connections}`, () => openDriver(port, connections))
  const ids =
    era === 'session'
      ? await Promise.all(
          kept(sessions, `${port} ${call}`, () =>
            Array.from({ length: connections }, (_, index) => openSession(port, path(index))),
          ),
        )
      : []
  return driver.run({
    seconds,
    path,
    headers: (connection) => ({ ...phrase(era).headers(tool, ids[connection]), ...headers }),
    body: (connection, count) => phrase(era).body(count, tool, asked.args(first + connection)),
    stop: (answer) => call === 'check' && answer.includes('"result":null'),
  })
}

for await (const line of createInterface(process.stdin))
  console.log(JSON.stringify(await carryOut(JSON.parse(line) as Order)))
process.exit(0)
