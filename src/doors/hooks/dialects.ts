/** Clients and the moments of a session: the name of each event, and how an answer is taken. One table, client × event. */

import type { SessionStep } from '../../core/presence/sessions.ts'

export type Moment = Exclude<SessionStep, 'compact'>

interface Dialect {
  readonly events: Readonly<Record<string, Moment>>
  /** Whether a pointer that woke the client comes back as the prompt of a turn, which confirms it. */
  readonly turnConfirms: boolean
}

const likeClaude: Readonly<Record<string, Moment>> = {
  SessionStart: 'start',
  UserPromptSubmit: 'turn',
  PostToolUse: 'tool',
  Stop: 'stop',
  SessionEnd: 'end',
}

/** Names come from a URL: of `toString` no object here knows anything. */
const own = <Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined

const dialects: Readonly<Record<string, Dialect>> = {
  claude: { events: likeClaude, turnConfirms: true },
  codex: { events: likeClaude, turnConfirms: true },
  gemini: {
    events: { SessionStart: 'start', BeforeAgent: 'turn', AfterTool: 'tool', AfterAgent: 'stop', SessionEnd: 'end' },
    turnConfirms: true,
  },
  vscode: { events: likeClaude, turnConfirms: false },
  /** By its plugin, which reports the moments under these names. */
  opencode: { events: likeClaude, turnConfirms: true },
}

export const momentOf = (client: string, event: string): Moment | undefined =>
  own(own(dialects, client)?.events ?? {}, event)

/** A client that is not known confirms nothing. */
export const turnConfirms = (client: string): boolean => own(dialects, client)?.turnConfirms ?? false

/** At the end of a turn a client goes on only if it is held back; elsewhere the text is added to what the model reads. */
export const answerOf = (event: string, moment: Moment, text: string): Readonly<Record<string, unknown>> =>
  moment === 'stop'
    ? { decision: 'block', reason: text }
    : { hookSpecificOutput: { hookEventName: event, additionalContext: text } }
