/** The table of routes of the post door: serving, OpenAPI and the page of documentation are made from its rows. */
import type { z } from 'zod'
import type { Code } from '../../base/errors.ts'
import type { Caller } from '../../core/access/callers.ts'
import type { Acting } from '../../core/agents/acting.ts'

interface Context {
  readonly caller: Caller
}

/** The context of a route that is called with the key of an agent. */
export interface OwnContext extends Context {
  readonly acting: Acting
}

/** The parts of a request that a route reads, each with its schema. */
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
  /** In OpenAPI and in the metrics. */
  readonly name: string
  readonly summary: string
  readonly description: string
  readonly about: 'Agents' | 'Connections' | 'Messages'
  readonly input: In
  readonly output: z.ZodObject
  readonly status: 200 | 201
  /** Errors besides those of every route, each with its reason. */
  readonly errors: Partial<Record<Code, string>>
  readonly example: { readonly body?: object; readonly answer: object }
  readonly bodyOptional?: boolean
}

/** Called with the key of an agent, unless it is open. */
export type Route<In extends Parts = Parts> = Row<In> &
  (
    | { readonly open: true; run(input: Input<In>, context: Context): Promise<object> }
    | { readonly open?: false; run(input: Input<In>, context: OwnContext): Promise<object> }
  )

const usual = { status: 200, input: {}, errors: {} } as const

type Usual = keyof typeof usual

/** A row without the fields that have their usual value, and without its group. */
type Given<Full> = Full extends unknown ? Omit<Full, Usual | 'about'> & Partial<Pick<Full, Usual & keyof Full>> : never

/** Makes the rows of one group; each keeps the types of its input together with its `run`. */
export const routesAbout =
  (about: Route['about']) =>
  <const In extends Parts = Record<never, never>>(row: Given<Route<In>>): Route =>
    ({ ...usual, about, ...row }) as unknown as Route
