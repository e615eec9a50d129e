/** Writes the generated pages; with `--check` it writes nothing and fails if one is stale. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Growth } from '../bench/growth/table.ts'
import type { Nodes } from '../bench/nodes/table.ts'
import type { Peers } from '../bench/peers/measures.ts'
import { createProgram } from '../src/app/program.ts'
import { shapeOf } from '../src/doors/cli/completions.ts'
import { subjects } from '../src/settings/all.ts'
import { requirements } from '../test/requirements.ts'
import type { Wakes } from './clients/wake/results.ts'
import { renderAccess } from './docs/access.ts'
import { type Results, renderBench, renderBenchmarks } from './docs/bench.ts'
import { renderAgentsPage, renderClients, renderReadmeClients } from './docs/clients.ts'
import { servedDoors } from './docs/doors.ts'
import { renderManual } from './docs/manual.ts'
import { renderRequirements } from './docs/requirements.ts'
import { renderScale } from './docs/scale.ts'
import { renderEnvExample, renderSettings } from './docs/settings.ts'
import { renderTools } from './docs/tools.ts'
import { renderReadmeWakes, renderWaking } from './docs/wakes.ts'
import { observabilityFiles } from './observability/files.ts'
import { currentSurface, surfaceText } from './surface/surface.ts'

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

const pages: Readonly<Record<string, string>> = {
  'docs/internals/access-matrix.md': renderAccess(),
  'docs/internals/requirements.md': renderRequirements(requirements),
  'docs/settings.md': renderSettings(subjects),
  'docs/tools.md': renderTools(servedDoors),
  'docs/parley.1': renderManual(shapeOf(await createProgram([], { ...process, env: {} }, true))),
  'docs/surface.json': surfaceText(await currentSurface()),
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
