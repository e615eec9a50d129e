/** The table of routes of the post door: a row has everything that serving, describing and documenting a route takes. */
import type { z } from 'zod'
import type { Code } from '../../base/errors.ts'
import type { Caller } from '../../core/access/callers.ts'
import type { Acting } from '../../core/agents/acting.ts'

/** What a route is given besides its input. */
export interface Context {
  readonly caller: Caller
}

/** The same for a route that is called with the key of an agent. */
export interface OwnContext extends Context {
  readonly acting: Acting
}

/** The parts of a request, each with its schema; a part that a route has no use for is left out. */
export interface Parts {
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly body?: z.ZodObject
}

type Read<Part> = Part extends z.ZodObject ? z.infer<Part> : Record<string, never>

export interface Input<In extends Parts> {
  readonly params: Read<In['params']>
  readonly query: Read<In['query']>
  readonly body: Read<In['body']>
}

interface Row<In extends Parts> {
  readonly method: 'GET' | 'POST' | 'PUT'
  /** With parameters as OpenAPI writes them: `/sessions/{session_id}/history`. */
  readonly path: string
  /** Its name in OpenAPI and in the metrics. */
  readonly name: string
  /** One line, and what else there is to know. */
  readonly summary: string
  readonly description: string
  readonly about: 'Agents' | 'Connections' | 'Messages'
  readonly input: In
  readonly output: z.ZodObject
  readonly status: 200 | 201
  /** The codes of its errors besides those of every route, each with the reason. */
  readonly errors: Partial<Record<Code, string>>
  readonly example: { readonly body?: object; readonly answer: object }
  /** Whether the request may come without a body though the route takes one. */
  readonly bodyOptional?: boolean
}

/** Called with the key of an agent, unless it is open. */
export type Route<In extends Parts = Parts> = Row<In> &
  (
    | { readonly open: true; run(input: Input<In>, context: Context): Promise<object> }
    | { readonly open?: false; run(input: Input<In>, context: OwnContext): Promise<object> }
  )

/** Keeps the types of a row's input together with what it runs. */
export const defineRoute = <const In extends Parts>(route: Route<In>): Route => route as unknown as Route
