/** The load as a process of its own: `node bench/load.ts '<order>'` prints what it saw as JSON. */
import { drive } from './drive.ts'
import { type Era, openSession, phrase } from './phrase.ts'

export interface Order {
  port: number
  call: 'send' | 'check'
  era: Era
  connections: number
  seconds: number
}

const text =
  'The build is green again; the flaky test was a timer that outlived its server. Please have a look at the diff. '.repeat(
    2,
  )

const { port, call, era, connections, seconds } = JSON.parse(process.argv[2] ?? '{}') as Order
const agent = (connection: number) => (call === 'send' ? `sender-${connection}` : `reader-${connection}`)
const path = (connection: number) => `/agents/${agent(connection)}/mcp`
const tool = call === 'send' ? 'send_to_agent' : 'check_mail'
const sessions = await Promise.all(
  Array.from({ length: connections }, (_, index) => (era === 'session' ? openSession(port, path(index)) : undefined)),
)
const load = await drive({
  port,
  connections,
  seconds,
  path,
  headers: (connection) => phrase(era).headers(tool, sessions[connection]),
  body: (connection, count) =>
    phrase(era).body(count, tool, call === 'send' ? { name: `reader-${connection}`, msg: text } : {}),
  stop: (answer) => call === 'check' && answer.includes('"result":null'),
})
console.log(JSON.stringify(load))
