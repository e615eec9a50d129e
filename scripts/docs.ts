/** Writes the generated pages; with `--check` it writes nothing and fails if one is stale. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Growth } from '../bench/growth/table.ts'
import type { Nodes } from '../bench/nodes/table.ts'
import type { Peers } from '../bench/peers/measures.ts'
import { createProgram } from '../src/app/program.ts'
import { version } from '../src/app/version.ts'
import type { Hub } from '../src/core/hub/hub.ts'
import { busDoor } from '../src/doors/bus/door.ts'
import { busPath } from '../src/doors/bus/holder.ts'
import { shapeOf } from '../src/doors/cli/completions.ts'
import { hubDoor } from '../src/doors/hub/door.ts'
import { hubPath } from '../src/doors/hub/scope.ts'
import type { About } from '../src/doors/mail/about.ts'
import { offers } from '../src/doors/mail/clusters.ts'
import { mailDoor } from '../src/doors/mail/door.ts'
import { mailboxDoor, mailboxPath } from '../src/doors/mailbox/door.ts'
import { type MailboxClient, mailboxClientDoor } from '../src/doors/mailbox-client/door.ts'
import { subjects } from '../src/settings/all.ts'
import { requirements } from '../test/requirements.ts'
import type { Wakes } from './clients/wake/results.ts'
import { renderAccess } from './docs/access.ts'
import { type Results, renderBench, renderBenchmarks } from './docs/bench.ts'
import { renderAgentsPage, renderClients, renderReadmeClients } from './docs/clients.ts'
import { renderManual } from './docs/manual.ts'
import { renderRequirements } from './docs/requirements.ts'
import { renderScale } from './docs/scale.ts'
import { renderEnvExample, renderSettings } from './docs/settings.ts'
import { renderTools } from './docs/tools.ts'
import { renderReadmeWakes, renderWaking } from './docs/wakes.ts'
import { observabilityFiles } from './observability/files.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFile(join(root, path), 'utf8')

/** The results of a bench; undefined until it has run. */
const kept = <T>(path: string): Promise<T | undefined> =>
  read(path).then(
    (text) => JSON.parse(text) as T,
    () => undefined,
  )

const results = JSON.parse(await read('bench/results.json')) as Results
const wakes = JSON.parse(await read('bench/wakes.json')) as Wakes

// A table only needs its hub when a tool runs.
const noHub = {} as Hub
const noServer = {} as About
const noClient = {} as MailboxClient
const pathOf = (route: string) => route.replace(/:(\w+)/g, '{$1}')

const pages: Readonly<Record<string, string>> = {
  'docs/internals/access-matrix.md': renderAccess(),
  'docs/internals/requirements.md': renderRequirements(requirements),
  'docs/settings.md': renderSettings(subjects),
  'docs/tools.md': renderTools([
    { door: mailboxDoor(noHub), url: pathOf(mailboxPath) },
    { door: mailDoor(noHub, noServer), url: '/mcp', shortLists: offers },
    { door: busDoor(noHub, version), url: `${busPath}?agent={name}` },
    { door: hubDoor(noHub), url: `${hubPath}?agent={name}` },
    { door: mailboxClientDoor(noClient), command: 'parley mailbox' },
  ]),
  'docs/parley.1': renderManual(shapeOf(await createProgram([], { ...process, env: {} }, true))),
  '.env.example': renderEnvExample(subjects),
  'docs/benchmarks.md': renderBenchmarks({
    results,
    growth: await kept<Growth>('bench/growth.json'),
    peers: await kept<Peers>('bench/peers.json'),
  }),
  'docs/scale.md': renderScale(JSON.parse(await read('bench/nodes.json')) as Nodes),
  'README.md': renderReadmeWakes(renderReadmeClients(renderBench(await read('README.md'), results)), wakes),
  'docs/clients.md': renderClients(await read('docs/clients.md')),
  'docs/waking.md': renderWaking(await read('docs/waking.md'), wakes),
  'docs/agents-md.md': renderAgentsPage(await read('docs/agents-md.md')),
  ...observabilityFiles(),
}

const stale: string[] = []
for (const [path, text] of Object.entries(pages)) {
  const file = join(root, path)
  const old = await readFile(file, 'utf8').catch(() => undefined)
  if (old !== text) stale.push(path)
}

if (!process.argv.includes('--check')) {
  for (const path of stale) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), pages[path] ?? '')
    console.log(`wrote ${path}`)
  }
} else if (stale.length > 0) {
  console.error(`Stale: ${stale.join(', ')}. Run \`npm run docs\` and commit the result.`)
  process.exitCode = 1
}
