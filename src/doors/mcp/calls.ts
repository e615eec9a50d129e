/** Calls as a door is told of them: whom one concerns, and which session of its client it came from. */
import type { Own } from './table.ts'

/** The agent and project that a call concerns, by its arguments: not checked, and only text is kept. */
export interface Subject {
  readonly project?: unknown
  readonly agent?: unknown
}

/** A call that succeeded, of a client that names its session. */
export interface SessionCall {
  readonly client: string
  /** The client's own name for it. */
  readonly session: string
  readonly tool: { readonly name: string; readonly own?: Own }
  readonly args: Readonly<Record<string, unknown>>
  readonly value: unknown
}
