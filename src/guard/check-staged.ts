/** Which staged files of a commit others have reserved. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { leadingTo, parseGlob } from '../globs/globs.ts'
import { matcherOf, readPath } from '../globs/matching.ts'
import type { Carried } from './hook.ts'
import type { PathMapping } from './repository.ts'

/** An active exclusive lease. */
export interface Held {
  readonly id: number
  readonly agent: string
  readonly pattern: string
  readonly reason: string
  readonly expiresAt: number
}

interface Collision {
  readonly lease: Held
  /** As git names them, from the top of the repository. */
  readonly paths: readonly string[]
}

/** Names with NUL between them, and no renames: a file that was renamed is one deleted and one added, and both names count. */
const staged = [
  '--cached',
  '--name-only',
  '--no-renames',
  '-z',
  '--no-relative',
  '--ignore-submodules=none',
  '--no-ext-diff',
]

/** In the environment of the hook, which names the index that is being committed. */
export async function stagedPaths(folder: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('git', ['diff', ...staged], { cwd: folder, maxBuffer: 2 ** 30 })
  return stdout.split('\0').filter((path) => path !== '')
}

/** In the order of the leases. */
export function collisionsOf(paths: readonly string[], leases: readonly Held[], place: PathMapping): Collision[] {
  const known = paths.flatMap((path) => {
    const named = inProject(path, place)
    return named === undefined ? [] : [{ path, leading: leadingTo(named), read: readPath(named) }]
  })
  const folders = new Set(known.flatMap(({ leading }) => leading))
  const near = new Set(leases.map(({ pattern }) => pattern).filter((pattern) => folders.has(beginning(pattern))))
  const byPrefix = Map.groupBy([...near].flatMap(readPattern), ({ prefix }) => prefix)
  for (const { path, leading, read } of known)
    for (const prefix of leading)
      for (const { matches, found } of byPrefix.get(prefix) ?? []) if (matches(read)) found.push(path)
  const found = new Map([...byPrefix.values()].flat().map(({ pattern, found }) => [pattern, found]))
  return leases.flatMap((lease) => {
    const paths = found.get(lease.pattern) ?? []
    return paths.length === 0 ? [] : [{ lease, paths }]
  })
}

/** The folders of a pattern before its first wildcard. Reading a pattern takes 30 µs, and most are on other files. */
function beginning(pattern: string): string {
  const wild = pattern.search(/[*?[{]/)
  return wild < 0 ? pattern : pattern.slice(0, Math.max(0, pattern.lastIndexOf('/', wild)))
}

/** Stored patterns have been read before; one that this version cannot read is no reason to fail. */
function readPattern(pattern: string) {
  const parsed = parseGlob(pattern)
  if ('fault' in parsed) return []
  return [{ pattern, prefix: parsed.glob.prefix, matches: matcherOf(parsed.glob), found: [] as string[] }]
}

function inProject(path: string, { inside, below }: PathMapping): string | undefined {
  if (inside !== '') return `${inside}/${path}`
  if (below === '') return path
  return path.startsWith(`${below}/`) ? path.slice(below.length + 1) : undefined
}

/**
 * Without a name a commit is a person's, and every lease is somebody else's. `Name@project` is taken too. Where two exclusive
 * leases are on one file, the older one counts: else neither holder could commit it (mail.guard.older-first).
 */
export async function heldByOthers(touched: readonly Collision[], committer: string, { project, key }: Carried) {
  const [name = '', ...where] = committer.trim().split('@')
  if (name === '' || !['', project, key].includes(where.join('@'))) return touched
  // Loaded only now: most commits touch nothing that is held.
  const { nameKey } = await import('../base/names.ts')
  const isOwn = ({ lease }: Collision) => nameKey(lease.agent) === nameKey(name)
  const own = touched.filter(isOwn)
  const isOlder = (mine: Collision, { lease }: Collision, path: string) =>
    mine.lease.id < lease.id && mine.paths.includes(path)
  return touched
    .filter((other) => !isOwn(other))
    .map((other) => ({
      ...other,
      paths: other.paths.filter((path) => !own.some((mine) => isOlder(mine, other, path))),
    }))
    .filter(({ paths }) => paths.length > 0)
}
