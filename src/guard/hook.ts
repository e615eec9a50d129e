/** The text of the guard in a hook: a block of shell that stands before whatever else the hook does. */
import type { PathMapping } from './repository.ts'

/** Settings written into the hook, because git calls the guard without Parley's environment; never a token or a password. */
export interface Carried extends PathMapping {
  /** The slug of the project, and its key. */
  readonly project: string
  readonly key: string
  readonly storage_root: string
  /** The SQLite file; absent where the data is in PostgreSQL. */
  readonly database?: string
  /** The URL of the mail door; absent if it is not known. */
  readonly server?: string
  /** Where hooks are shared, the only repository that this is for: its common folder. */
  readonly repository?: string
}

/** The programs of this installation. */
export interface Programs {
  readonly node: string
  readonly script: string
}

const opening = '# >>> parley guard >>>\n'
const closing = '# <<< parley guard <<<\n'
const blocks = new RegExp(`${opening}[\\s\\S]*?${closing}`, 'g')

/** The exit code by which the guard says that a commit must not be made: any other is a failure of the guard itself. */
export const stopped = 3

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const says = (text: string): string => `echo ${quoted(`parley guard: ${text}`)} >&2`

/** Plain POSIX shell, also under `set -eu`, that leaves no variable behind for the rest of the hook. */
export function blockOf(carried: Carried, programs: Programs): string {
  const { repository } = carried
  const [node, script] = [quoted(programs.node), quoted(programs.script)]
  const elsewhere =
    repository === undefined
      ? 'if'
      : `if [ "$(cd "$(git rev-parse --git-common-dir)" && pwd -P)" != ${quoted(repository)} ]; then\n  :\nelif`
  return `${opening}# Keeps commits off the files that other agents have reserved. To remove it: parley guard uninstall <repository>
${elsewhere} [ "\${PARLEY_GUARD-}" = off ]; then
  ${says('skipped, because PARLEY_GUARD is off.')}
elif [ -x ${node} ] && [ -r ${script} ]; then
  ${node} ${script} ${quoted(JSON.stringify(carried))} || case $? in
    ${stopped}) exit 1 ;;
    *) ${says('it failed, and this commit was not checked.')} ;;
  esac
else
  ${says('Parley is not where it was, and this commit was not checked. Install the guard again.')}
fi
${closing}`
}

export interface Block {
  readonly text: string
  /** Undefined if somebody changed it beyond reading. */
  readonly carried: Carried | undefined
  readonly programs: Programs | undefined
}

export const blocksOf = (hook: string): Block[] => (hook.match(blocks) ?? []).map(readBlock)

function readBlock(text: string): Block {
  const [, ...words] = /^ {2}('.*') ('.*') ('\{.*\}') \|\| case/m.exec(text) ?? []
  const [node, script, json] = words.map((word) => word.slice(1, -1).replaceAll("'\\''", "'"))
  try {
    const carried = JSON.parse(json ?? '') as Carried
    return { text, carried, programs: { node: node ?? '', script: script ?? '' } }
  } catch {
    return { text, carried: undefined, programs: undefined }
  }
}
