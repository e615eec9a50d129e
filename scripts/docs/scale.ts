/** docs/scale.md: what nodes and a database carry, from what `npm run bench:nodes` kept. Every figure that follows from a cost is worked out here. */
import { costCells, lineCells, type Nodes } from '../../bench/nodes/table.ts'
import { generatedFrom, page, table } from './markdown.ts'

/** Two digits are as much as a cost on one machine says about another. */
function about(value: number): string {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 1)
  return value < 10 ? String(Number(value.toPrecision(2))) : (Math.round(value / step) * step).toLocaleString('en')
}

function bytes(value: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB', 'PB']
  const unit = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(value) / 3)))
  return `${about(value / 1000 ** unit)} ${units[unit]}`
}

const day = 86_400
/** Of an agent, each day. */
const messagesADay = 200
/** The peak against the mean. */
const peakFactor = 10
/** Memory of a call that waits (docs/benchmarks.md). */
const waiting = 40_000
/** A core that is busy for more than this makes calls wait. */
const busy = 0.6

interface Costs {
  /** Seconds of CPU for a message that is sent and taken. */
  readonly node: number
  readonly database: number
  /** Bytes. */
  readonly log: number
  readonly disk: number
}

const sum = ({ costs: { send, take } }: Nodes): Costs => ({
  node: (send.node + take.node) / 1e6,
  database: (send.database + take.database) / 1e6,
  log: send.log + take.log,
  disk: send.disk + take.disk,
})

const cores = (used: number): string => (used < 0.1 ? `${about(used * 100)} % of a core` : `${about(used)} cores`)
const counted = (count: number, noun: string): string => `${about(count)} ${noun}${count === 1 ? '' : 's'}`

export function renderScale(nodes: Nodes): string {
  const costs = sum(nodes)
  const lines = lineCells(nodes)
  const each = costCells(nodes)
  return page(
    generatedFrom('bench/nodes.json'),
    '# Scale',
    'What one node and one PostgreSQL carry, what grows with what, and where the walls are. The costs were measured; the rest is arithmetic with them.',
    '## Nodes on one PostgreSQL',
    'Start as many `parley serve` as you like with the same `DATABASE_URL` and the same `SECRET_KEY`, behind any balancer. A node keeps nothing that another needs: any node answers any request, honours any session, and hears of what is sent at the others by LISTEN/NOTIFY. A node that is killed loses nothing it acknowledged, and its clients go on at another; a client that waits for a message which the dead node had no time to announce is told within ten seconds. While the database is away, calls are answered with `DB_BUSY`, HTTP with `503` and `Retry-After`, and everything goes on by itself when it is back.',
    table(lines.head, lines.rows),
    `Medians of ${nodes.rounds} rounds, with the middle half in brackets; 64 calls in flight in all. Measured on ${nodes.day} (\`${nodes.commit}\`) on ${nodes.machine}, which the nodes, PostgreSQL and the load share: more nodes cannot make that faster, they only show what they cost. With cores of its own each node adds its part, until PostgreSQL is the wall. \`npm run bench:nodes\` repeats it.`,
    'A call costs, with all that is done behind its answer (a text of 222 characters):',
    table(each.head, each.rows),
    '## What grows with what',
    table(
      ['', 'grows with', 'cost'],
      [
        [
          'CPU of a node',
          'calls',
          `it runs in one thread, a core a node: ${about(1 / costs.node)} messages a second, sent and taken, keep it busy`,
        ],
        ['CPU of PostgreSQL', 'messages sent and taken, not agents', `${about(costs.database * 1e6)} µs a message`],
        [
          'disk',
          'messages, until old mail is moved out (`parley retention`) or a topic is deleted',
          `${bytes(costs.disk)} a message, with its indexes`,
        ],
        ['write-ahead log', 'messages', `${bytes(costs.log)} a message`],
        ['memory of a node', 'calls that wait', `${bytes(waiting)} each`],
        [
          'connections to PostgreSQL',
          'nodes and workers × (`DATABASE_POOL_SIZE` + 1, and 1 or 2 for the archive)',
          'some megabytes each there',
        ],
        ['wake-ups', 'sends × nodes: every node hears of every send, several in one notice', ''],
        [
          'the time of a call',
          'not with messages, agents or the depth of a mailbox ([benchmarks.md](benchmarks.md), cost against size)',
          '',
        ],
      ],
    ),
    '## Walls',
    walls(costs),
    '## Past the walls',
    past,
    '## Arithmetic',
    `An agent that sends and takes ${messagesADay} messages a day; a peak of ${peakFactor} times the mean; half of the agents wait for mail; cores that are ${busy * 100} % busy at the peak.`,
    arithmetic(costs),
  )
}

function walls({ database, log, disk }: Costs): string {
  const core = 1 / database
  // Ten cores' worth of sixteen: locks, checkpoints and vacuum take their part.
  const server = 10 * core
  return [
    `1. **A core of PostgreSQL** carries ${about(core)} messages a second, sent and taken. A server with sixteen cores may carry ten times that before its log is the wall: ${bytes(server * log)} a second at ${about(server)} messages.`,
    `2. **The disk**: ${about(server)} messages a second are ${bytes(server * disk * day)} a day. Long before that somebody has to decide what may go: \`parley retention\` moves old mail out.`,
    '3. **One mailbox**: its row is one node’s at a time. A node commits up to 32 sends to it at once; the table above has its line.',
    '4. **One topic, or one thread with a name**: its messages are numbered without a gap, so each commits after the other: one wait for the disk each, some hundred to a thousand a second.',
    '5. **The archive** is written by one node at a time, in 1 ms a message: a thousand a second. `ARCHIVE_ENABLED=false` takes that wall away.',
    '6. **Connections**: 20 nodes with 10 each need `max_connections` above 260. A pooler of transactions in between takes fewer (`DATABASE_POOLER=transaction`, [operations.md](operations.md)); its calls wait for an answer more often, since nothing is pipelined.',
    '7. **Wake-ups**: every node hears of every send. A node gathers its own for 2 ms under load, so N nodes make at most 500 N notices a second, each read by N. Where they come late, waits end later; nothing is lost by it.',
  ].join('\n')
}

const past = [
  'None of this is built. In the order in which it would pay:\n',
  '- **Cells.** One Parley with its PostgreSQL for a part of the projects, and a balancer that knows which project lives where. Works today, since projects share nothing but contacts across them, which end at the cell. It moves every wall but those of one mailbox and one topic.',
  '- **Read replicas** for search, summaries, exports, counts and pages. They all go through one port (`Db.long`), which may point elsewhere. A search promises to find what was sent before it: it would have to wait until the replica has come that far.',
  '- **Partitions by project**, to drop a project’s mail at once and to keep its indexes small. `messages`, `deliveries` and `client_ids` would have to carry the project in their keys.',
  '- **Citus**, with the project as the key of distribution: the same columns, and then one database on many machines. Mail across projects becomes a transaction on two of them, and `commons` stays on one: agents of the mailbox door would be given projects (`?project=`).',
].join('\n')

/** Agents of a cell, where there are cells. */
const cellSize = 250_000

function arithmetic(costs: Costs): string {
  const sizes = [1_000, 100_000, 10_000_000]
  const mean = (agents: number) => (agents * messagesADay) / day
  const peak = (agents: number) => mean(agents) * peakFactor
  const nodesFor = (agents: number) => Math.ceil((peak(agents) * costs.node) / busy)
  const coresFor = (agents: number) => Math.ceil((peak(agents) * costs.database) / busy)
  const row = (what: string, cell: (agents: number) => string) => [what, ...sizes.map(cell)]
  const takes = (agents: number): string => {
    if (agents < 10_000) return 'SQLite, one process'
    const needs = (some: number) =>
      `${counted(nodesFor(some), 'node')}, one PostgreSQL of ${counted(coresFor(some), 'core')}`
    if (agents <= cellSize) return `${needs(agents)}, a decision about old mail`
    return `${about(agents / cellSize)} cells of ${about(cellSize)} agents, each with ${needs(cellSize)}; no single PostgreSQL`
  }
  return table(
    ['', ...sizes.map((size) => `${size.toLocaleString('en')} agents`)],
    [
      row('messages a second, mean / peak', (agents) => `${about(mean(agents))} / ${about(peak(agents))}`),
      row('CPU of PostgreSQL at the peak', (agents) => cores(peak(agents) * costs.database)),
      row('CPU of nodes at the peak', (agents) => cores(peak(agents) * costs.node)),
      row('log at the peak', (agents) => `${bytes(peak(agents) * costs.log)} a second`),
      row('disk a day', (agents) => bytes(mean(agents) * day * costs.disk)),
      row('calls that wait', (agents) => `${bytes((agents / 2) * waiting)}, on ${counted(nodesFor(agents), 'node')}`),
      row('what it takes', takes),
    ],
  )
}
