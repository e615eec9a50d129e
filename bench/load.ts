/** The load as a process of its own: `node bench/load.ts '<order>'` prints what it saw as JSON. */
import { drive } from './drive.ts'
import { type Era, openSession, phrase } from './phrase.ts'
import { agentOf, benchProject } from './seed-mail.ts'

export interface Order {
  port: number
  call: keyof typeof calls
  era: Era
  connections: number
  seconds: number
}

interface Call {
  tool: string
  path(connection: number): string
  args(connection: number): Record<string, unknown>
}

const text =
  'The build is green again; the flaky test was a timer that outlived its server. Please have a look at the diff. '.repeat(
    2,
  )

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
  check: { tool: 'check_mail', path: (connection) => `/agents/reader-${connection}/mcp`, args: () => ({}) },
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

const { port, call, era, connections, seconds } = JSON.parse(process.argv[2] ?? '{}') as Order
const { tool, path, args }: Call = calls[call]
const sessions = await Promise.all(
  Array.from({ length: connections }, (_, index) => (era === 'session' ? openSession(port, path(index)) : undefined)),
)
const load = await drive({
  port,
  connections,
  seconds,
  path,
  headers: (connection) => phrase(era).headers(tool, sessions[connection]),
  body: (connection, count) => phrase(era).body(count, tool, args(connection)),
  stop: (answer) => call === 'check' && answer.includes('"result":null'),
})
console.log(JSON.stringify(load))
