/** The dependency rule of the layers: main → doors → core → { store, archive } → db → base; never upward, never sideways. */
import { posix } from 'node:path'
import { type Source, withoutComments } from './sources.ts'

/** Pure rooms on the floor of base: they see base, `summaries` splits words as `fulltext` does, and `llm` keeps answers in `redis`. */
const pure = [
  'folders',
  'globs',
  'fulltext',
  'summaries',
  'llm',
  'redis',
  'attachments',
  'remote-tools',
  'guard',
  'client-settings',
]

/** The folders that each layer may import besides itself. */
const below: Readonly<Record<string, readonly string[]>> = {
  main: ['app', 'settings', 'doors', 'core', 'store', 'archive', 'db', ...pure, 'base'],
  app: ['settings', 'doors', 'core', 'store', 'archive', 'db', ...pure, 'base'],
  settings: ['db', 'redis', 'base'],
  doors: ['core', ...pure, 'base'],
  core: ['store', 'archive', 'db', ...pure, 'base'],
  store: ['db', ...pure, 'base'],
  archive: ['db', ...pure, 'base'],
  db: ['base'],
  folders: ['base'],
  globs: ['base'],
  fulltext: ['base'],
  summaries: ['fulltext', 'base'],
  llm: ['redis', 'base'],
  redis: ['base'],
  attachments: ['base'],
  'remote-tools': ['base'],
  guard: ['globs', 'base'],
  'client-settings': ['base'],
  base: [],
}

/** The rooms of core in their order: each may use those before it, never one behind it. */
export const rooms = [
  'hub',
  'feed',
  'access',
  'projects',
  'agents',
  'leases',
  'contacts',
  'messages',
  'contact-requests',
  'mail',
  'topics',
  'threads',
  'presence',
  'remote-tools',
  'archive',
  'search',
  'tasks',
  'macros',
  'pages',
  'transfers',
  'backups',
]

/** Folders of `doors` that serve every door. */
const sharedDoors = ['mcp', 'http', 'words']

/** Doors at the other end of a wire: clients of a server, which have no hub. */
const remoteDoors = ['mailbox-client', 'connect']

/** Each forbidden import as `file imports file`. */
export function violations(sources: readonly Source[]): string[] {
  return sources.flatMap((source) =>
    importedFiles(source)
      .filter((target) => target.startsWith('src/') && !mayImport(source.path, target))
      .map((target) => `${source.path} imports ${target}`),
  )
}

function mayImport(from: string, to: string): boolean {
  if (to === 'src/main.ts') return false
  const [upper, lower] = [layerOf(from), layerOf(to)]
  if (lower === 'core' && remoteDoors.includes(doorOf(from) ?? '')) return false
  if (upper !== lower) return below[upper]?.includes(lower) ?? false
  if (lower === 'core')
    return rooms.includes(roomOf(from)) && rooms.slice(0, rooms.indexOf(roomOf(from)) + 1).includes(roomOf(to))
  return lower !== 'doors' || doorOf(to) === undefined || doorOf(to) === doorOf(from)
}

/** `src/core/hub/wait.ts` is of `core`; what stands in `src` itself is of `main`. */
function layerOf(path: string): string {
  const [, folder, ...rest] = path.split('/')
  return folder === undefined || rest.length === 0 ? 'main' : folder
}

/** `src/core/leases/overlaps.ts` is of the room `leases`; nothing stands in `core` itself. */
function roomOf(path: string): string {
  const [, , folder = '', ...rest] = path.split('/')
  return rest.length === 0 ? '' : folder
}

/** The door a file belongs to; none if every door shares it. */
function doorOf(path: string): string | undefined {
  const [, , folder, ...rest] = path.split('/')
  return folder === undefined || rest.length === 0 || sharedDoors.includes(folder) ? undefined : folder
}

const specifiers = [
  /\b(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/g,
  /\bimport\s*\(?\s*['"]([^'"]+)['"]/g, // for the effect, or dynamic
  /\bnew URL\(\s*['"]([^'"]+\.ts)['"]/g, // a worker
]

/** The files of the repository that a file imports, types included. */
export function importedFiles({ path, text }: Source): string[] {
  const code = withoutComments(text)
  return specifiers
    .flatMap((pattern) => [...code.matchAll(pattern)].map(([, specifier = '']) => specifier))
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.join(posix.dirname(path), specifier))
}

interface NamedImport {
  readonly target: string
  readonly name: string
}

/** The values (not types) that a file imports by name from files of the repository. */
export const importedNames = (source: Source): NamedImport[] => namesOf(source, 'import')

/** The names that it hands on without using them. */
export const exportedFrom = (source: Source): NamedImport[] => namesOf(source, 'export')

function namesOf({ path, text }: Source, keyword: 'import' | 'export'): NamedImport[] {
  const lists = new RegExp(`\\b${keyword}\\s+\\{([^}]*)\\}\\s+from\\s+['"](\\.[^'"]+)['"]`, 'g')
  return [...withoutComments(text).matchAll(lists)].flatMap(([, names = '', specifier = '']) =>
    names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && !name.startsWith('type '))
      .map((name) => ({
        target: posix.join(posix.dirname(path), specifier),
        name: name.split(/\s+as\s+/)[0] ?? name,
      })),
  )
}
