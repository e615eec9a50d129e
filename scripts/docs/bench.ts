/** docs/benchmarks.md, and the lines of it that README.md shows: from what `npm run bench`, `bench:growth` and `bench:peers` kept. */
import { type Growth, growthCells } from '../../bench/growth/table.ts'
import type { Peers } from '../../bench/peers/measures.ts'
import type { Row } from '../../bench/rows.ts'
import { code, generatedFrom, page, table } from './markdown.ts'

/** The newest run comes first. */
export interface Results {
  readonly runs: readonly Run[]
}

interface Run {
  readonly version: string
  readonly commit: string
  readonly day: string
  readonly machine: string
  readonly rows: readonly Row[]
}

/** The figures that a user asks for first, by the names of the bench's lines: README shows them. */
export const readmeLines = [
  '`send_to_agent`, plain JSON-RPC',
  'send → waiting `check_mail` has its answer',
  'search among 1,000,000: two words of middling frequency',
  'idle memory',
] as const

/** The history follows these. */
const mainLines = [
  ...readmeLines,
  '`fetch_inbox`, 20 with bodies',
  'bus: send → waiting `sync` in another process',
] as const

/** How many runs the history shows. */
const historyRuns = 5

function newest({ runs: [run] }: Results): Run {
  if (run === undefined) throw new Error('bench/results.json has no run.')
  return run
}

const measured = ({ rows }: Run, line: string): string | undefined => rows.find(({ what }) => what === line)?.measured

const [open, close] = ['<!-- bench -->', '<!-- /bench -->']

export function renderBench(readme: string, results: Results): string {
  const [before, rest] = readme.split(open)
  const after = rest?.split(close)[1]
  if (before === undefined || after === undefined)
    throw new Error(`README.md needs a line ${open} and a line ${close}.`)
  const run = newest(results)
  const rows = readmeLines.map((line) => {
    const value = measured(run, line)
    if (value === undefined)
      throw new Error(
        `The newest run in bench/results.json has no line “${line}”: change readmeLines in scripts/docs/bench.ts.`,
      )
    return [line, value]
  })
  return [`${before}${open}`, table(['', 'measured'], rows), '', `${where(run)}`, `${close}${after}`].join('\n')
}

const where = ({ day, commit, machine }: Pick<Run, 'day' | 'commit' | 'machine'>): string =>
  `Measured on ${day} (${code(commit)}) on ${machine}.`

export interface Kept {
  readonly results: Results
  /** Absent until its command has run. */
  readonly growth?: Growth | undefined
  readonly peers?: Peers | undefined
}

export function renderBenchmarks({ results, growth, peers }: Kept): string {
  return page(
    generatedFrom('bench/results.json, bench/growth.json and bench/peers.json'),
    '# Benchmarks',
    'Figures of one machine, to be compared with each other and with a run of your own; none of them is a test. What takes part in a comparison takes turns in one run, and medians are shown. [bench/README.md](../bench/README.md) says what each line measures and how its floor is made.',
    [
      '```sh',
      'npm ci',
      'npm run bench           # a quarter of an hour; -- --quick for a look, -- --only <part>, -- --against <checkout>',
      'npm run bench:growth    # ten minutes; -- --most 1e7 needs 30 GB of disk and an hour',
      'npm run bench:peers     # eight minutes; wants Python 3.12 and the Python package index',
      'npm run bench:nodes     # three minutes; docs/scale.md shows it',
      'npm run bench:soak      # eleven minutes; memory under mixed traffic, nothing is kept',
      'npm run docs            # writes these pages from what they kept',
      '```',
    ].join('\n'),
    ...renderRun(results),
    ...renderGrowth(growth),
    ...renderPeers(peers),
  )
}

function renderRun(results: Results): string[] {
  const run = newest(results)
  const runs = results.runs.slice(0, historyRuns)
  return [
    `## Parley ${run.version}`,
    where(run),
    'A floor is the same work by the fastest means that keep the promises: a bare HTTP server and the same rows, written by the driver alone. “Against itself” is a second Parley in the same run: a difference within it is none.',
    table(
      ['', 'measured', 'target', '', 'Parley against itself'],
      run.rows.map(({ what, measured, target, reached, noise = '' }) => [
        what,
        measured,
        target,
        reached ? '✓' : '✗',
        noise,
      ]),
    ),
    '### History',
    table(
      ['', ...runs.map(({ version, commit, day }) => `${version}, ${code(commit)}, ${day}`)],
      mainLines.map((line) => [line, ...runs.map((of) => measured(of, line) ?? '')]),
    ),
  ]
}

const notRun = (command: string): string => `Not measured yet: ${code(command)} makes this section.`

function renderGrowth(growth: Growth | undefined): string[] {
  const title = '## Cost against size'
  if (growth === undefined) return [title, notRun('npm run bench:growth')]
  return [
    title,
    where(growth),
    'A line is flat if the last size costs at most one and a half times the first; one that is not says why.',
    ...growth.parts.flatMap((part) => {
      const { head, rows } = growthCells(part)
      return [`### ${part.title}`, part.says, table(head, rows), ...part.skipped]
    }),
  ]
}

function renderPeers(peers: Peers | undefined): string[] {
  const title = '## Beside other systems'
  if (peers === undefined) return [title, notRun('npm run bench:peers')]
  return [
    title,
    where(peers),
    'Each system ran as it is installed from its registry, on a store of its own, in turns with Parley, and was asked for the same by the same bare client. They are made for other ends as well, which no figure here shows; Python starts slower and is larger than a compiled program whatever it does.',
    ...peers.sections.flatMap(({ title, asked, systems, lines }) => [
      `### ${title}`,
      asked,
      table(
        ['', ...systems.map(({ name, version }) => `${name} ${version}`)],
        lines.map(({ what, measured }) => [what, ...measured]),
      ),
      systems
        .map(({ name, version, licence, notes }) => `- **${name}** ${version} (${licence}): ${notes.join(' ')}`)
        .join('\n'),
    ]),
  ]
}
