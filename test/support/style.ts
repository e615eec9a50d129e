/** The rules of style that a look at the text can check. Each rule returns its complaints as `file: what`. */
import { requirements } from '../requirements.ts'
import { commentsOf, type Source, withoutComments } from './sources.ts'

type Rule = (file: Source) => string[]

const complain = (path: string, what: string | false | undefined): string[] => (what ? [`${path}: ${what}`] : [])

/** Time, chance, settings and output come in through base, the settings and main, so that tests can put their own in place. */
const ambient =
  /\b(Date\.now\(|new Date\(\)|Math\.random\(|process\.env\b|console\.\w+|set(?:Timeout|Interval|Immediate)\b|node:timers)/
const ambientAllowed = /^src\/(base\/.*|settings\/.*|main\.ts)$/

export const noAmbient: Rule = ({ path, text }) =>
  ambientAllowed.test(path) ? [] : complain(path, ambient.exec(withoutComments(text))?.[1])

/** The database, the wake-ups and the counters behind a hub: everybody else asks `reader`, `commit` and `wait`. */
export const opaqueHub: Rule = ({ path, text }) =>
  complain(
    path,
    !path.startsWith('src/core/hub/') &&
      /\binside\b[^'"`]*from\s*['"][^'"]*hub\.ts['"]/.test(withoutComments(text)) &&
      'looks inside of the hub',
  )

const armsTimer = /\.after\(|\b(?:pause|every|alarm)\(/
const loops = /^src\/core\/hub\/(keep-looking|wait)\.ts$/
const listensForWakes = /\bonWake\(|\bwakes\.on(?:Every)?\(/

/** Wakes together with timers make a loop or a wait, and there is one of each: every other has its own back-off and its own end to get wrong. */
export const oneLoop: Rule = ({ path, text }) => {
  const code = withoutComments(text)
  return complain(
    path,
    /^src\/(core|app)\//.test(path) &&
      !loops.test(path) &&
      armsTimer.test(code) &&
      listensForWakes.test(code) &&
      'arms a timer and listens for wakes: use keepLooking or wait',
  )
}

/** Differences of engines are named capabilities (db/dialect.ts): a verb that asks for the engine's name forgets the next one. */
export const unaskedEngine: Rule = ({ path, text }) =>
  complain(
    path,
    /^src\/(core|doors|store)\/(?!.*\.test\.ts$)/.test(path) &&
      /\bdialect\b(?!\.ts)/.test(withoutComments(text)) &&
      'asks which engine runs: name what it can do in db/dialect.ts',
  )

/** A comment names its subject first: a clause in its place makes the reader hold on until the verb. */
export const namedSubject: Rule = ({ path, text }) =>
  complain(
    path,
    /^\s*(?:\/\*\*|\/\/|\*) ?(?:What|Who|Whoever|Those) /m.test(text) &&
      'has a comment that begins with What, Who, Whoever or Those: begin with the noun that is meant',
  )

/** One file reads the halves that filing in bulk makes of each box, and one decides when to file. */
const knowsHalves = /^src\/(store\/mail\/boxes|core\/messages\/filing)\.ts$/

export const hiddenHalves: Rule = ({ path, text }) =>
  complain(
    path,
    /^src\/(core|doors|store)\/(?!.*\.test\.ts$)/.test(path) &&
      !knowsHalves.test(path) &&
      /\bbulkFiling\b|\b[a-z]\.filed (?:=|IS)/.test(withoutComments(text)) &&
      'knows that boxes have halves: ask store/mail/boxes.ts',
  )

/** A caller is made where credentials are read, or by a person at a command line: elsewhere a door passes on the one it got. */
const callersMade = /^src\/doors\/(http\/credentials|mcp\/stdio\/serve|web\/(?:sessions|visits)|cli\/.+)\.ts$/

export const passedOnCaller: Rule = ({ path, text }) =>
  complain(
    path,
    path.startsWith('src/doors/') &&
      !callersMade.test(path) &&
      /\bimport\s+\{[^}]*\}\s+from\s+['"][^'"]*access\/callers\.ts['"]/.test(withoutComments(text)) &&
      'makes a caller of its own',
  )

/** Names that a file gives to callers. */
const callerNames = /(\w+)\??: Caller\b/g
const callerTypes = /\bCaller & \{|\bExtract<Caller\b|\bCaller\['kind'\]/

/** Code that depends on the kind of a caller asks core/access, so that a new kind is one row of one table. */
export const unaskedKind: Rule = ({ path, text }) => {
  if (path.startsWith('src/core/access/')) return []
  const code = withoutComments(text)
  const names = ['caller', ...[...code.matchAll(callerNames)].map(([, name = '']) => name)].join('|')
  const looks = [
    new RegExp(`\\b(?:${names})[?!]?\\.(?:kind|unmade|agentId|projectId)\\b`),
    new RegExp(`\\{[^{}()=]*\\bkind\\b[^{}()]*\\}(?:: Caller\\b| = (?:\\w+\\.)*(?:${names})\\b)`),
    new RegExp(`\\bin (?:\\w+\\.)*(?:${names})\\b(?= *[)?&|])`),
    callerTypes,
  ]
  return looks.flatMap((look) => complain(path, look.exec(code)?.[0]))
}

const promiseLosses =
  /\/\*\*(?:(?!\*\/)[\s\S])*?\bnever rejects\b(?:(?!\*\/)[\s\S])*?\*\/\s*(?:export\s+)?(?:async\s+)?(?:function\s+|const\s+)?(#?\w+)/gi
/** Calls of Node and Fastify that are told with `void` that their value does not matter, and that fail in other ways. */
const harmless = new Set(['write', 'terminate', 'register', 'send'])

/**
 * A promise that nobody waits for ends the process when it rejects, and `void` hides that from the linter. So what stands
 * behind a `void` ends in a handler, or calls something whose comment says that it never rejects.
 */
export function noLostPromise(files: readonly Source[]): Rule {
  const never = new Set(files.flatMap(({ text }) => [...text.matchAll(promiseLosses)].map(([, name = '']) => name)))
  return ({ path, text }) => {
    const code = withoutComments(text)
    return [...code.matchAll(/\bvoid[ \t]+(?=[\w#('"`!])/g)].flatMap((match) => {
      const from = match.index + match[0].length
      const last = chainOf(code, from).findLast(({ name }) => name !== 'finally')
      const handled = last?.name === 'catch' || (last?.name === 'then' && last.handlers > 1)
      const fine = handled || (last !== undefined && (never.has(last.name) || harmless.has(last.name)))
      return complain(path, !fine && `void ${code.slice(from).split('\n', 1)[0]} … has no handler`)
    })
  }
}

/** Nobody waits for what an event or a timer calls: a promise of it would be lost in the same way. */
export const noAsyncListener: Rule = ({ path, text }) =>
  complain(
    path,
    /(?:\.(?:on|once|addListener|addEventListener|after)|\bevery)\([^()]*?,\s*async\b.*/.exec(
      withoutComments(text),
    )?.[0],
  )

/** The calls of the expression that begins there, as in `a.b(…).then(…)`, and how many arguments each has. */
function chainOf(code: string, from: number): { name: string; handlers: number }[] {
  const calls: { name: string; handlers: number }[] = []
  let depth = 0
  for (let at = from; at < code.length; at++) {
    const sign = code.charAt(at)
    if (depth === 0 && (/[;,)}\]]/.test(sign) || (sign === '\n' && !/^\s*\??\./.test(code.slice(at))))) break
    if (sign === '(' && depth === 0) calls.push({ name: /#?\w*$/.exec(code.slice(from, at))?.[0] ?? '', handlers: 1 })
    const call = calls.at(-1)
    if (sign === ',' && depth === 1 && call !== undefined && !/^\s*\)/.test(code.slice(at + 1))) call.handlers++
    if (/[([{]/.test(sign)) depth++
    if (/[)\]}]/.test(sign)) depth--
  }
  return calls
}

export const noDefaultExport: Rule = ({ path, text }) =>
  complain(path, /^export default\b|\bas default\b/m.test(withoutComments(text)) && 'has a default export')

export const tellingName: Rule = ({ path }) =>
  complain(path, /(^|[/.-])(utils?|helpers?|common|misc|managers?)\.\w+$/.test(path) && 'has a name that says nothing')

export const shortFile: Rule = ({ path, text }) => {
  const lines = text.trimEnd().split('\n').length
  return complain(path, lines > 300 && `has ${lines} lines, more than 300`)
}

export const beginsWithSentence: Rule = ({ path, text }) =>
  complain(path, !/^\/\*\* [\s\S]*?[.:]\s*\*\//.test(text) && 'does not begin with a /** sentence. */')

/** A path that exists on somebody's machine only. Examples begin with something like /srv. */
const machinePath = /(?<![\w.~-])(\/(?:home|Users|root|work)\/[\w.-]+|[A-Z]:\\Users\\)/

export const noMachinePath: Rule = ({ path, text }) => complain(path, machinePath.exec(text)?.[1])

/** Where packages come from is a matter of whoever installs them. */
const registryHost = /\bregistry\.(?:npmjs|yarnpkg|npmmirror)\b|\/\/(?:registry|npm)\.[\w-]+\./

export const noRegistryHost: Rule = ({ path, text }) => complain(path, registryHost.exec(text)?.[0])

/** The specifications are kept outside of this repository: whoever reads the code cannot look there. */
const outsidePaper = /\b(?:DESIG[N]|DECISION[S])\b|\bspec[/]|(?<!docs\/)\b(?:mailbox|mail|bus|hub|post|clients)[.]md\b/

export const noOutsidePaper: Rule = ({ path, text }) => complain(path, outsidePaper.exec(text)?.[0])

const promises: ReadonlySet<string> = new Set(requirements.map(({ id }) => id))
const fileName = /\.(?:[cm]?[jt]s|json|md)$/

/** In a comment, `(mail.contact.order)` cites a promise of test/requirements.ts; several stand in one pair of brackets. */
export const knownPromise: Rule = ({ path, text }) =>
  commentsOf(text)
    .flatMap((comment) => [...comment.matchAll(/\(([a-z][\w.,; *-]*)\)/g)])
    .flatMap(([, inside = '']) => inside.split(/[,;\s*]+/))
    .filter((word) => /^[a-z-]+(?:\.[a-z-]+){1,2}$/.test(word) && !fileName.test(word) && !promises.has(word))
    .flatMap((word) => complain(path, `(${word}) is no promise`))

interface Lock {
  packages: Record<string, { resolved?: string; optionalDependencies?: Record<string, string> }>
}

const packagesOf = (text: string) => Object.entries((JSON.parse(text) as Lock).packages)

export const lockWithoutAddress: Rule = ({ path, text }) =>
  packagesOf(text).flatMap(([place, { resolved }]) =>
    complain(path, resolved !== undefined && `${place} has an address`),
  )

/** The packages of other platforms must be there too, else `npm ci` refuses the file. */
export const completeLock: Rule = ({ path, text }) => {
  const packages = new Map(packagesOf(text))
  return [...packages].flatMap(([place, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !packages.has(`node_modules/${name}`) && !packages.has(`${place}/node_modules/${name}`))
      .flatMap((name) => complain(path, `${name}, which ${place} may need, is missing`)),
  )
}
