/** Path patterns of leases (mail.lease.overlap): read, put in one form, and whether two overlap. */
import { GlobFault, literally, type Parsed, type Part, parseParts } from './parts.ts'
import { type Automaton, automaton, type Budget, sharedPath } from './paths.ts'

export { type Budget, OverBudget } from './paths.ts'

/** Small, so that many can be kept: the rest is read from the text again where it is needed. */
export interface Glob {
  /** The one form of the pattern: what means the same by `./`, `//` or a root in front reads the same here. */
  readonly text: string
  /** The path before the first segment with a wildcard; all that the pattern matches is that path or below it. */
  readonly prefix: string
  /** The first segments of all that it matches, as far as each stands for one segment; '' where it has a wildcard. */
  readonly heads: readonly string[]
  /** Every path that it matches has a last segment with this beginning and this end. */
  readonly opening: string
  readonly tail: string
}

const longest = 512

/**
 * A pattern, or what is wrong with it, to go on from `The pattern "x" …`. Paths are relative to the project; one that
 * begins with `root`, the folder of the project, is made so. A backslash is refused: it could part folders or quote a
 * character, and `[*]` does the latter. A slash at the end means a folder and all below it.
 */
export function parseGlob(given: string, root = ''): { glob: Glob } | { fault: string } {
  const local = relative(given, root)
  const fault = textFault(local)
  if (fault !== undefined) return { fault }
  const clean = local
    .replace(/\/+/g, '/')
    .replace(/(^|\/)(\.\/)+/g, '$1')
    .replace(/(^|\/)\.$/, '$1')
    .replace(/(^|\/)\*\*(\/\*\*)+(?=\/|$)/g, '$1**')
  try {
    const glob = clean === '' ? read('**') : clean.endsWith('/') ? folder(clean.slice(0, -1)) : read(clean)
    // A stored pattern must be readable again.
    const fault = textFault(glob.text)
    return fault === undefined ? { glob } : { fault }
  } catch (error) {
    if (error instanceof GlobFault) return { fault: error.message }
    throw error
  }
}

function textFault(text: string): string | undefined {
  if (text.trim() === '') return 'must not be empty'
  if (text.length > longest) return `must have at most ${longest} characters; it has ${text.length}`
  if (/\p{Cc}/u.test(text) || !text.isWellFormed()) return 'must not contain control characters'
  if (text.includes('\\')) return 'must have "/" between folders; to mean a character such as "*" itself, write [*]'
  if (/^(\/|~\/|[A-Za-z]:\/)/.test(text)) return 'must be relative to the folder of the project'
  if (text.startsWith('!')) return 'must not begin with "!": a pattern cannot take away from others'
  return /(^|[/{,])\.\.(\/|$)/.test(text) ? 'must not lead out of a folder with ".."' : undefined
}

function relative(text: string, root: string): string {
  const folder = root.replaceAll('\\', '/').replace(/\/+$/, '')
  if (!/^(\/|[A-Za-z]:)/.test(folder)) return text
  if (text === folder) return './'
  return text.startsWith(`${folder}/`) ? `./${text.slice(folder.length + 1)}` : text
}

function folder(text: string): Glob {
  const { wild } = parseParts(text)
  return wild === undefined && !hasExtension(text)
    ? read(text)
    : read(text.endsWith('/**') || text === '**' ? text : `${text}/**`)
}

/** A name such as `[...slug]` is a folder's. */
const hasExtension = (path: string): boolean => /[^/]\.[^./\]]+$/.test(path)

function read(text: string): Glob {
  const { wild, path } = parseParts(text)
  const heads = headsOf(text)
  if (wild !== undefined) {
    const { prefix, opening, tail } = ends(text, wild)
    // As it is written, it is also all below that folder.
    return path && !hasExtension(text)
      ? { text, heads, prefix, opening: '', tail: '' }
      : { text, heads, prefix, opening, tail }
  }
  const last = hasExtension(text) ? text.slice(text.lastIndexOf('/') + 1) : ''
  return { text, heads, prefix: text, opening: last, tail: last }
}

/** Braces may hold slashes, so that what comes after them is at no certain place. */
function headsOf(text: string): string[] {
  const segments = text.split('/')
  const end = segments.findIndex((segment) => /\*\*|[[{]/.test(segment))
  return segments.slice(0, end < 0 ? undefined : end).map((segment) => (/[*?]/.test(segment) ? '' : segment))
}

function ends(text: string, wild: NonNullable<Parsed['wild']>) {
  const prefix = text.slice(0, Math.max(0, text.lastIndexOf('/', wild.from)))
  const last = text.slice(text.lastIndexOf('/') + 1)
  // Braces may hold slashes: then the last segment is not what it looks like.
  const opening = text.includes('{') ? '' : (/^[^*?[]*/.exec(last)?.[0] ?? '')
  const tail = text.slice(Math.max(wild.to, text.lastIndexOf('/') + 1))
  return { prefix, opening, tail }
}

/** All paths that it matches. */
export function automatonOf({ text }: Glob): Automaton {
  const { parts, wild, path } = parseParts(text)
  if (!path || hasExtension(text)) return automaton(parts)
  const below: Part[] = [{ kind: 'slash' }, { kind: 'stars' }]
  if (wild === undefined) return automaton([...parts, ...below])
  return automaton([{ kind: 'either', options: [parts, [...literally(text), ...below]] }])
}

let kept: { glob: Glob; automaton: Automaton } | undefined

/** Kept for the next call: one pattern is compared with many. */
function keptAutomaton(glob: Glob): Automaton {
  if (kept?.glob !== glob) kept = { glob, automaton: automatonOf(glob) }
  return kept.automaton
}

/** Whether some path matches both. Most pairs are told apart by how they begin and end. */
export function overlaps(one: Glob, other: Glob, budget?: Budget): boolean {
  if (!one.tail.endsWith(other.tail) && !other.tail.endsWith(one.tail)) return false
  if (!one.opening.startsWith(other.opening) && !other.opening.startsWith(one.opening)) return false
  if (one.heads.some((head, at) => head !== '' && differs(head, other.heads[at]))) return false
  return sharedPath(keptAutomaton(one), automatonOf(other), budget) !== undefined
}

const differs = (head: string, other = ''): boolean => other !== '' && head !== other

/** The path itself and all folders above it, down from the root, which is ''. */
export function leadingTo(prefix: string): string[] {
  const found = ['']
  for (let at = prefix.indexOf('/'); at > 0; at = prefix.indexOf('/', at + 1)) found.push(prefix.slice(0, at))
  if (prefix !== '') found.push(prefix)
  return found
}
