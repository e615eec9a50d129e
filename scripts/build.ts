/**
 * `npm run build`: the program in a few files, in `dist/`. Half of a start was loading 700 files, and it took 15 MB. `npm ci`
 * builds too; where the source has changed since, it is the source that runs (bin/built.js).
 */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { type ChunkingContext, type CodeSplittingGroup, rolldown } from 'rolldown'
import { isFresh, stampOf } from '../bin/built.js'
import { root } from '../bin/runtime.js'

/** What Parley starts beside itself, or a thread of it loads by name. Each is one file: what it shared with the server would hold more than it needs. */
const aside = [
  'app/archive-thread.ts',
  'app/guard.ts',
  'attachments/conversion.ts',
  'core/mail/conversations-look.ts',
  'core/search/search-look.ts',
  'db/sqlite/long-reads-thread.ts',
  'doors/web/markdown/thread.ts',
]

/** Not pure JavaScript, or looked for by name while the program runs. */
const external = /^(node:|sharp$|pino-pretty$|highlight\.js)/

const source = (file: string) => join(root, 'src', file)
const [program, serve, bus] = [source('app/program.ts'), source('app/serve.ts'), source('app/bus.ts')]

if (process.argv.includes('--force') || !isFresh()) {
  // Before anything is read: a file that is saved meanwhile makes the build old.
  const inputs = stamps()
  // A folder of its own: another build may run.
  const folder = join(root, `dist.partial-${process.pid}`)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(folder)
  const modules = await bundle(folder, 'main.ts', { split: true })
  for (const entry of aside) modules.push(...(await bundle(folder, entry, { split: false })))
  const assets = { recursive: true, filter: (from: string) => !/(\.ts|tsconfig\.json)$/.test(from) }
  cpSync(source('doors/web/assets'), join(folder, 'app', 'assets'), assets)
  writeFileSync(join(folder, 'licenses.txt'), licenses(modules))
  writeFileSync(join(folder, 'inputs.json'), JSON.stringify(inputs))
  // A program that starts meanwhile finds the old build or this one, or runs the source.
  const old = `${folder}.old`
  if (existsSync(join(root, 'dist'))) renameSync(join(root, 'dist'), old)
  renameSync(folder, join(root, 'dist'))
  rmSync(old, { recursive: true, force: true })
  // Of files that are no more. Programs that run write there: what cannot be deleted stays.
  const cache = join(root, '.runtime', 'compile-cache')
  try {
    rmSync(cache, { recursive: true, force: true, maxRetries: 5 })
  } catch {}
}

/** All but the beginning lies in `app/`, as deep as those files of the source that find another by its place. */
async function bundle(folder: string, entry: string, { split }: { readonly split: boolean }): Promise<string[]> {
  const build = await rolldown({
    cwd: root,
    input: source(entry),
    platform: 'node',
    external,
    preserveEntrySignatures: 'allow-extension',
    transform: { target: 'node24' },
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
 * What every command loads is one file, what the server and `parley bus` load beside it another, and what only the server loads a third.
 * Left alone the bundler makes a hundred of it, one for each set of commands. None holds more than all who load it need, so that
 * no two files need each other.
 */
function groups(): CodeSplittingGroup[] {
  // Without main.ts, which waits for the command: what it loads must not wait for it.
  const byAll = loaded(() => [program])
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
    group('program', 3, (id, graph) => byAll(graph).has(id)),
    group('shared', 2, (id, graph) => byServe(graph).has(id) && byBus(graph).has(id)),
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

/** What a build is made of. Packages count as a whole: npm writes that file with whatever it installs. */
function stamps(): Record<string, string | undefined> {
  const own = globSync('src/**/*.*', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  const files = [...own, 'scripts/build.ts', join('node_modules', '.package-lock.json')]
  return Object.fromEntries(files.map((file) => [file, stampOf(file)]))
}

/** Those of the packages inside, which want to go along with their code. */
function licenses(modules: readonly string[]): string {
  const inside = modules.flatMap((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0] ?? [])
  return [...new Set(inside)]
    .sort()
    .map((folder) => `${relative(root, folder).split(sep).join('/')}\n\n${licenseIn(folder)}\n`)
    .join('\n\n')
}

/** Some packages only name theirs. */
function licenseIn(folder: string): string {
  const [file] = globSync('{LICENSE,LICENCE,license}*', { cwd: folder })
  if (file !== undefined) return readFileSync(join(folder, file), 'utf8').trim()
  const { license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { license?: string }
  if (license === undefined) throw new Error(`${folder} has no licence.`)
  return license
}
