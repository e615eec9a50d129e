/** Failures, for somebody at a command line: the hints name commands, not tools. */
import { type Code, HubError } from '../../base/errors.ts'
import { harmlessText } from './harmless.ts'

/** The command line asks for something that does not go: exit code 2. */
export class UsageError extends Error {
  readonly hint: string

  constructor(message: string, hint: string) {
    super(message)
    this.name = 'UsageError'
    this.hint = hint
  }
}

/** The hint of core, and the command that people have for it. */
const and =
  (command: string) =>
  ({ hint = '' }: HubError): string =>
    `${hint} ${command}`

/** The verbs hint at tools, which nobody has at a command line. */
const hints: Partial<Readonly<Record<Code, string | ((error: HubError) => string)>>> = {
  AGENT_NOT_FOUND: '`parley list-projects --include-agents` shows who is there, and in which project.',
  PROJECT_NOT_FOUND: and('`parley list-projects` shows them all; topics without --project are those of commons.'),
  TOPIC_NOT_FOUND: '`parley topics list --status all` shows the topics there are; --project names another project.',
  TOPIC_CLOSED: 'Nothing was sent. `parley topics show` still reads it; a peer opens it again with topic_reopen.',
}

/** What the file system says about a file that a command writes; any other failure stays as it is. */
export function notWritten(error: unknown, hint: string): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error
  return new HubError('INVALID_ARGUMENT', `The file cannot be written: ${error.message}.`, { hint, cause: error })
}

/** The text of an error may hold names that agents gave. */
export function forPeople(error: unknown): unknown {
  if (!(error instanceof HubError)) return error
  const worded = hints[error.code] ?? error.hint
  const hint = typeof worded === 'function' ? worded(error) : worded
  return new HubError(error.code, harmlessText(error.message), { ...(hint !== undefined && { hint }), cause: error })
}
