/** The table that `npm run bench:nodes` prints and keeps: lines for each number of nodes, and the cost of a call. */

/** The contents of bench/nodes.json. */
export interface Nodes {
  readonly day: string
  readonly commit: string
  readonly machine: string
  readonly rounds: number
  readonly sizes: readonly number[]
  readonly lines: readonly NodesLine[]
  readonly costs: Readonly<Record<'send' | 'take', CallCost>>
}

export interface NodesLine {
  readonly what: string
  /** One for each size. */
  readonly measured: readonly string[]
}

/** Of one call, with what is done behind its answer: search index, sums, wake-ups. */
export interface CallCost {
  readonly calls: number
  /** Microseconds of CPU. */
  readonly node: number
  readonly database: number
  /** Bytes. */
  readonly log: number
  readonly disk: number
}

const titles = { send: '`send_to_agent`', take: '`check_mail`' } as const

interface Cells {
  readonly head: string[]
  readonly rows: string[][]
}

/** As Markdown, for the terminal and for docs/scale.md alike. */
export const lineCells = ({ sizes, lines }: Nodes): Cells => ({
  head: ['', ...sizes.map((size) => (size === 1 ? '1 node' : `${size} nodes`))],
  rows: lines.map(({ what, measured }) => [what, ...measured]),
})

const whole = (value: number): string => Math.round(value).toLocaleString('en')

export const costCells = ({ costs }: Nodes): Cells => ({
  head: ['', 'CPU of the node', 'CPU of PostgreSQL', 'write-ahead log', 'disk'],
  rows: (['send', 'take'] as const).map((call) => {
    const { node, database, log, disk } = costs[call]
    return [titles[call], `${whole(node)} µs`, `${whole(database)} µs`, `${whole(log)} bytes`, `${whole(disk)} bytes`]
  }),
})
