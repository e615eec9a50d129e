/**
 * `npm run build`: the program in a few files, in `dist/`, which `bin/` runs. Half of a start was loading 700 files, and it
 * took 15 MB. `npm ci` builds too, and so does each run of the tests.
 */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { type ChunkingContext, type CodeSplittingGroup, rolldown } from 'rolldown'
import { root } from '../bin/runtime.js'
import { sbomOf } from './sbom.ts'

/** Programs that Parley starts, and modules that its threads load by name. Each is one file: shared with the server, it would load more than it needs. */
const aside = [
  'app/archive-thread.ts',
  'app/guard.ts',
  'app/tracing-thread.ts',
  'app/waker.ts',
  'attachments/conversion.ts',
  'base/pretty.ts',
  'core/mail/conversations-look.ts',
  'core/search/search-look.ts',
  'db/sqlite/long-reads-thread.ts',
  'doors/web/markdown/thread.ts',
]

/** Runs on the Node of its client, which may be older than the one that Parley fetches for itself. */
const onNode20 = 'app/waker.ts'

/** Files of packages that browsers load, under the names of src/doors/web/assets.ts. */
const forBrowsers = {
  'idiomorph.js': 'idiomorph/dist/idiomorph.esm.js',
  'hotkey.js': '@github/hotkey/dist/index.js',
}

/** Not pure JavaScript: installed beside `dist/`, or left out. */
const external = /^(node:|sharp$)/

/** Its main file finds its parts by a `require` that no bundler sees. */
const bundled = { 'jsonc-parser': join(root, 'node_modules', 'jsonc-parser', 'lib', 'esm', 'main.js') }

const source = (file: string) => join(root, 'src', file)
const [program, serve, bus] = [source('app/program.ts'), source('app/serve.ts'), source('app/bus.ts')]

/** Each client of an agent keeps one of these running. */
const connect = source('app/connect.ts')

/** Code that people's commands load beside the store, and the server loads too. */
const desk = source('doors/people/store-desk.ts')

/** The way to the store: commands by which people read and write need neither MCP nor its schemas. */
const store = ['app/open.ts', 'app/own-caller.ts', 'doors/people/store-desk.ts'].map(source)

/** Code of commands that need no database: they answer in half the time of those that do. */
const light = [
  ...['app/status.ts', 'app/desk.ts', 'doors/people/remote-desk.ts', 'doors/cli/serving/status.ts'],
  ...['agents', 'inbox', 'reading', 'watch', 'writing'].map((name) => `doors/cli/people/${name}.ts`),
].map(source)
const dist = join(root, 'dist')

if (import.meta.main) await build()

/** Takes a second. */
export async function build(): Promise<void> {
  // A folder of its own: another build may run.
  const folder = `${dist}.partial-${process.pid}`
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    mkdirSync(folder)
  } catch (error) {
    // npm packs a checkout that only others may write: it came built.
    if (!isForbidden(error) || !existsSync(join(dist, 'main.js'))) throw error
    process.stderr.write(`${root} cannot be written: dist/ stays as it is.\n`)
    return
  }
  const modules = await bundle(folder, 'main.ts', { split: true })
  for (const entry of aside) modules.push(...(await bundle(folder, entry, { split: false })))
  const assets = { recursive: true, filter: (from: string) => !/(\.ts|tsconfig\.json)$/.test(from) }
  cpSync(source('doors/web/assets'), join(folder, 'app', 'assets'), assets)
  for (const [name, library] of Object.entries(forBrowsers)) {
    const file = join(root, 'node_modules', library)
    cpSync(file, join(folder, 'app', 'assets', name))
    modules.push(file)
  }
  const inside = packagesOf(modules)
  writeFileSync(join(folder, 'licenses.txt'), licenses(inside))
  writeFileSync(join(folder, 'sbom.cdx.json'), sbomOf(inside))
  takeOver(folder)
  process.off('exit', remove)
  remove()
}

function isForbidden(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EROFS'].includes(String((error as NodeJS.ErrnoException).code))
}

/** Puts what was built into `dist/`. A program that starts meanwhile finds the old build or this one: `main.js`, which names the others, comes last. */
function takeOver(folder: string): void {
  const built = filesIn(folder)
  const changed = built.filter((file) => !isSame(join(folder, file), join(dist, file)))
  for (const file of changed.toSorted((one, other) => Number(one === 'main.js') - Number(other === 'main.js'))) {
    mkdirSync(dirname(join(dist, file)), { recursive: true })
    renameSync(join(folder, file), join(dist, file))
  }
  for (const file of filesIn(dist)) if (!built.includes(file)) rmSync(join(dist, file), { force: true })
  if (changed.length === 0) return
  // Of files that are no more. Programs that run write there: what cannot be deleted stays.
  try {
    rmSync(join(root, '.runtime', 'compile-cache'), { recursive: true, force: true, maxRetries: 5 })
  } catch {}
}

function filesIn(folder: string): string[] {
  return globSync('**/*.*', { cwd: folder })
}

function isSame(one: string, other: string): boolean {
  return existsSync(other) && readFileSync(one).equals(readFileSync(other))
}

/** All but the beginning lies in `app/`, as deep as those files of the source that find another by its place. */
async function bundle(folder: string, entry: string, { split }: { readonly split: boolean }): Promise<string[]> {
  const build = await rolldown({
    cwd: root,
    input: source(entry),
    platform: 'node',
    external,
    resolve: { alias: bundled },
    preserveEntrySignatures: 'allow-extension',
    transform: { target: entry === onNode20 ? 'node20' : 'node24' },
    // A module that one program loads late, another loads at its start.
    checks: { ineffectiveDynamicImport: false },
  })
  const { output } = await build.write({
    dir: folder,
    format: 'esm',
    sourcemap: true,
    // V8 keeps the text of what is loaded: two bytes a letter if one of them needs two.
    charset: 'ascii',
    comments: false,
    entryFileNames: split ? '[name].js' : 'app/[name].js',
    chunkFileNames: 'app/[name]-[hash].js',
    codeSplitting: split && { groups: groups(), includeDependenciesRecursively: false },
  })
  await build.close()
  return output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
}

/**
 * One file for code that every command loads, one for `parley connect`, one for commands without a database, one for the store, one for the server
 * and `parley bus`, one for people's commands and the server, and one for the server alone.
 * Left alone the bundler makes a hundred of it, one for each set of commands. None holds more than all who load it need, so that
 * no two files need each other.
 */
function groups(): CodeSplittingGroup[] {
  // Without main.ts, which waits for the command: what it loads must not wait for it.
  const byAll = loaded(() => [program])
  const byConnect = loaded(() => [connect])
  const byLight = loaded(() => light)
  const byStore = loaded(() => store)
  const byDesk = loaded(() => [desk])
  const byServe = loaded(() => [serve])
  const byBus = loaded(() => [bus])
  const byOthers = loaded((graph) => {
    const commands = graph.getModuleInfo(program)?.dynamicallyImportedIds ?? []
    return commands.filter((id) => id !== serve && id !== bus)
  })
  const group = (name: string, priority: number, holds: (id: string, graph: ChunkingContext) => boolean) => ({
    name: (id: string, graph: ChunkingContext) => (holds(id, graph) ? name : null),
    debugName: name,
    priority,
  })
  return [
    group('program', 7, (id, graph) => byAll(graph).has(id)),
    group('connect', 6, (id, graph) => byConnect(graph).has(id)),
    group('light', 5, (id, graph) => byLight(graph).has(id)),
    group('store', 4, (id, graph) => byStore(graph).has(id) && byServe(graph).has(id) && byBus(graph).has(id)),
    group('shared', 3, (id, graph) => byServe(graph).has(id) && byBus(graph).has(id)),
    group('desk', 2, (id, graph) => byServe(graph).has(id) && byDesk(graph).has(id)),
    group('server', 1, (id, graph) => byServe(graph).has(id) && !byOthers(graph).has(id)),
  ]
}

/** The modules that these load before they run. */
function loaded(programs: (graph: ChunkingContext) => readonly string[]) {
  let modules: Set<string> | undefined
  return (graph: ChunkingContext): ReadonlySet<string> => {
    if (modules) return modules
    const found = new Set<string>()
    const visit = (id: string) => {
      if (found.has(id)) return
      found.add(id)
      graph.getModuleInfo(id)?.importedIds.forEach(visit)
    }
    programs(graph).forEach(visit)
    modules = found
    return found
  }
}

/** The folders of the packages inside, from the root. */
function packagesOf(modules: readonly string[]): string[] {
  const inside = modules.flatMap((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0] ?? [])
  return [...new Set(inside)].sort().map((folder) => relative(root, folder).split(sep).join('/'))
}

/** Their licences must go along with their code. */
function licenses(packages: readonly string[]): string {
  return packages.map((folder) => `${folder}\n\n${licenseIn(join(root, folder))}\n`).join('\n\n')
}

/** Some packages only name theirs. */
function licenseIn(folder: string): string {
  const [file] = globSync('{LICENSE,LICENCE,license}*', { cwd: folder })
  if (file !== undefined) return readFileSync(join(folder, file), 'utf8').trim()
  const { license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { license?: string }
  if (license === undefined) throw new Error(`${folder} has no licence.`)
  return license
}
