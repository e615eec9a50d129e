/** Failures, for somebody at a command line: the hints name commands, not tools. */
import { type Code, HubError, type Reason } from '../../base/errors.ts'
import { harmlessText } from './terminal/harmless.ts'

/** The command line asks for something impossible: exit code 2. */
export class UsageError extends Error {
  readonly hint: string

  constructor(message: string, hint: string) {
    super(message)
    this.name = 'UsageError'
    this.hint = hint
  }
}

/** The hint of core, and the command that people have for it: once, though a failure may pass here twice. */
const and =
  (command: string) =>
  ({ hint = '' }: HubError): string =>
    hint.endsWith(command) ? hint : `${hint} ${command}`.trimStart()

/** The hints of core name tools: these name commands instead. */
const hints: Partial<Readonly<Record<Code | Reason, string | ((error: HubError) => string)>>> = {
  AGENT_NOT_FOUND: and('`parley agents` lists all agents with their projects.'),
  MESSAGE_NOT_FOUND: and('`parley inbox` lists messages with their numbers.'),
  no_repository:
    'Run it in a repository, or name the path of one, as in `parley guard install backend /srv/code/backend`. `git init` makes a repository of a folder.',
  THREAD_NOT_FOUND: and('`parley threads` lists the threads.'),
  PROJECT_NOT_FOUND: and('`parley list-projects` lists all projects.'),
  TOPIC_NOT_FOUND: '`parley topics list --status all` lists the topics; --project names another project.',
  TOPIC_CLOSED: 'Nothing was sent. `parley topics show` still reads it; a peer can reopen it with topic_reopen.',
}

/** An error of the file system, as one about the file that the command writes; any other stays as it is. */
export function notWritten(error: unknown, hint: string): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error
  return new HubError('INVALID_ARGUMENT', `The file cannot be written: ${error.message}.`, { hint, cause: error })
}

/** The text of an error may hold names that agents gave. */
export function forPeople(error: unknown): unknown {
  if (!(error instanceof HubError)) return error
  const worded = (error.reason && hints[error.reason]) ?? hints[error.code] ?? error.hint
  const hint = typeof worded === 'function' ? worded(error) : worded
  return new HubError(error.code, harmlessText(error.message), { ...(hint !== undefined && { hint }), cause: error })
}
