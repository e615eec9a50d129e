/** The renderers of the generated pages, on tables made up for them. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { readmeLines, renderBench, renderBenchmarks } from '../scripts/docs/bench.ts'
import { renderRequirements } from '../scripts/docs/requirements.ts'
import { renderScale } from '../scripts/docs/scale.ts'
import { renderEnvExample, renderSettings } from '../scripts/docs/settings.ts'
import { renderTools } from '../scripts/docs/tools.ts'

test('a tool is shown with its arguments, their defaults and its answer', () => {
  const input = z.strictObject({
    to: z.string().describe('a | b'),
    kind: z.enum(['x', 'y']).optional(),
    limit: z.int().default(20),
    tags: z.array(z.union([z.string(), z.null()])).optional(),
  })
  const output = z.object({ id: z.string(), note: z.string().nullable().optional() })
  const tool = {
    name: 'note_send',
    title: '',
    description: 'Send it.',
    cluster: '',
    effect: 'write',
    input,
    run: async () => '',
  } as const
  const door = {
    title: 'Notes',
    instructions: 'Take notes.',
    tools: [
      { ...tool, output, wrapped: true },
      { ...tool, name: 'note_text' },
    ],
    resources: [{ uri: 'note://{id}', name: 'note', description: 'One note.', read: async () => '' }],
  }
  const shortLists = { few: { tools: new Set(['note_send', 'note_text']) } }
  const page = renderTools([{ door, url: '/notes/mcp', shortLists }])
  expect(page).toContain('Served at `/notes/mcp`.')
  expect(page).toContain('With `?tools=few` only `note_send`, `note_text` are offered.')
  expect(page).toContain('| `to` | `string` | required | a \\| b |')
  expect(page).toContain('| `kind` | `"x" \\| "y"` |  |  |')
  expect(page).toContain('| `limit` | `integer` | `20` |  |')
  expect(page).toContain('| `tags` | `(string \\| null)[]` |  |  |')
  expect(page).toContain('Answers `{ result: { id: string, note?: string | null } }`.')
  expect(page).toContain('Answers text.')
  expect(page).toContain('| `note://{id}` | One note. |')
  expect(page).toMatch(/^<!-- Generated .*[^\n]\n$/s)
})

test('settings and promises become tables, and an example that changes nothing', () => {
  const subjects = {
    'HTTP server': { HTTP_PORT: { default: '8765', says: 'The port.' }, TOKEN: { default: '', says: 'The token.' } },
    Log: { LEVEL: { default: 'info', says: 'The level.' } },
  }
  const config = renderSettings(subjects)
  expect(config).toContain('| `HTTP_PORT` | `8765` | The port. |\n| `TOKEN` |  | The token. |\n')
  expect(config.match(/^## .*|^\| `\w+`/gm)).toEqual([
    '## HTTP server',
    '| `HTTP_PORT`',
    '| `TOKEN`',
    '## Log',
    '| `LEVEL`',
  ])
  const example = renderEnvExample(subjects)
  expect(example).toContain('# The port.\n# HTTP_PORT=8765\n\n# The token.\n# TOKEN=\n\n# --- Log ---\n')
  expect(example).toMatch(/^(#.*|)(\n(#.*|))*$/)
  const promises = [
    { id: 'serve.a.b', spec: 'serve.md', says: 'It serves.' },
    { id: 'other.a.b', spec: 'other.md', says: 'It runs.' },
  ]
  expect(renderRequirements(promises)).toMatch(
    /## Serving\n\n[\s\S]*\| `serve.a.b` \| It serves. \| serve.md \|\n\n## other\n/,
  )
})

const run = {
  version: '1.2.3',
  commit: 'abc1234',
  day: '2026-01-02',
  machine: 'a machine',
  rows: [
    { what: 'a line of no interest', measured: '7 ms', target: '≤ 8 ms', reached: true, noise: '1.01 ×' },
    ...readmeLines.map((what, n) => ({ what, measured: `${n} µs`, target: '', reached: false })),
  ],
}

test('README shows the main lines of the newest run, and says if one is gone', () => {
  const readme = 'before\n<!-- bench -->\nold\n<!-- /bench -->\nafter\n'
  const older = { ...run, commit: 'old', rows: [] }
  const page = renderBench(readme, { runs: [run, older] })
  expect(page.match(/^\| .* µs \|$/gm)).toEqual(readmeLines.map((what, n) => `| ${what} | ${n} µs |`))
  expect(page).toMatch(/^before\n<!-- bench -->\n.*abc1234.*\n<!-- \/bench -->\nafter\n$/s)
  expect(page).not.toContain('a line of no interest')
  expect(() => renderBench(readme, { runs: [older] })).toThrow(readmeLines[0])
})

test('the page of benchmarks has every line, and a section that was not measured is one line', () => {
  const bare = renderBenchmarks({ results: { runs: [run] } })
  expect(bare).toContain('| a line of no interest | 7 ms | ≤ 8 ms | ✓ | 1.01 × |')
  expect(bare).toContain('Not measured yet: `npm run bench:growth` makes this section.')
  expect(bare).toContain('Not measured yet: `npm run bench:peers` makes this section.')

  const { day, commit, machine } = run
  const lines = [
    { what: 'send', unit: 'ms', values: [1, 1.2], ratio: 1.2, flat: true },
    { what: 'find', unit: 'ms', values: [1, 400], ratio: 400, flat: false, why: 'It reads all.' },
  ]
  const growth = {
    day,
    commit,
    machine,
    parts: [{ title: 'Messages', says: '', sizes: [1000, 1e6], lines, skipped: [] }],
  }
  const systems = [{ name: 'other', version: '0.5.0', licence: 'MIT', notes: ['It polls.'] }]
  const section = { title: 'A bus', asked: 'The same.', systems, lines: [{ what: 'start', measured: ['9 ms'] }] }
  const whole = renderBenchmarks({
    results: { runs: [run] },
    growth,
    peers: { day, commit, machine, sections: [section] },
  })
  expect(whole).toContain('| send, ms | 1.00 | 1.20 | 1.20 | flat |')
  expect(whole).toContain('| find, ms | 1.00 | 400 | 400.00 | not flat: It reads all. |')
  expect(whole).toContain('|  | other 0.5.0 |\n|---|---|\n| start | 9 ms |')
  expect(whole).toContain('- **other** 0.5.0 (MIT): It polls.')
  expect(whole).not.toContain('Not measured yet')
})

test('what a million agents need follows from what a call costs', () => {
  const cost = { calls: 1000, node: 200, database: 100, log: 2000, disk: 1000 }
  const page = renderScale({
    day: '2026-01-01',
    commit: 'abc',
    machine: 'a machine',
    rounds: 16,
    sizes: [1, 2],
    lines: [{ what: 'sends', measured: ['10/s', '20/s'] }],
    costs: { send: cost, take: cost },
  })
  expect(page).toContain('|  | 1 node | 2 nodes |\n|---|---|---|\n| sends | 10/s | 20/s |')
  expect(page).toContain('| `check_mail` | 200 µs | 100 µs | 2,000 bytes | 1,000 bytes |')
  expect(page).toContain('A core of PostgreSQL** carries 5,000 messages a second')
  // 100,000 agents × 200 messages a day × 10 are 2,315 a second: 0.46 cores of PostgreSQL at 200 µs, 0.93 of nodes at 400.
  expect(page).toContain('| messages a second, mean / peak | 2.3 / 23 | 230 / 2,300 | 23,000 / 230,000 |')
  expect(page).toContain('| CPU of PostgreSQL at the peak | 0.46 % of a core | 0.46 cores | 46 cores |')
  expect(page).toContain('| log at the peak | 93 KB a second | 9.3 MB a second | 930 MB a second |')
  expect(page).toContain('| disk a day | 400 MB | 40 GB | 4 TB |')
  expect(page).toContain('2 nodes, one PostgreSQL of 1 core, a decision about old mail')
  expect(page).toContain('40 cells of 250,000 agents, each with 4 nodes, one PostgreSQL of 2 cores')
})
