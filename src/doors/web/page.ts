/** A page: the data it loads for a visit, and the forms in which it shows them. Every page is also data (web.pages.json). */
import type { z } from 'zod'
import type { Html } from './html.ts'
import { readQuery } from './query.ts'
import type { Visit } from './site.ts'

/** The parts that a page puts into the frame around it. */
export interface View {
  readonly title: string
  readonly main: Html
  /** The column beside it, on a wide screen. */
  readonly inspector?: Html | undefined
  /** The entry of the menu that this page is. */
  readonly here?:
    | 'home'
    | 'agents'
    | 'inbox'
    | 'attention'
    | 'projects'
    | 'search'
    | 'compose'
    | 'invitations'
    | undefined
  /** The slug of the project that it belongs to. */
  readonly project?: string | undefined
  /** One level up, for the key `u`. */
  readonly up?: string | undefined
  /** The changes that make it ask for itself again; without it the page stays as it is. */
  readonly watch?: Readonly<Record<string, string | undefined>> | undefined
  readonly status?: number
}

export interface Answer {
  json(): object | Promise<object>
  view(): View | Promise<View>
  /** As plain text, where the page has such a form. */
  text?(): string
}

export type Params = Readonly<Record<string, string>>
export type Respond = (visit: Visit, params: Params) => Promise<Answer>

interface Loaded<Query, Data> {
  readonly data: Data
  readonly query: Query
  readonly params: Params
  readonly visit: Visit
}

interface PageParts<Shape extends z.ZodObject, Data> {
  readonly query: Shape
  load(visit: Visit, query: z.output<Shape>, params: Params): Promise<Data>
  json(loaded: Loaded<z.output<Shape>, Data>): object | Promise<object>
  view(loaded: Loaded<z.output<Shape>, Data>): View | Promise<View>
  text?(loaded: Loaded<z.output<Shape>, Data>): string
}

export const definePage =
  <Shape extends z.ZodObject, Data>(parts: PageParts<Shape, Data>): Respond =>
  async (visit, params) => {
    const query = readQuery(parts.query, visit.query)
    const loaded = { data: await parts.load(visit, query, params), query, params, visit }
    return {
      json: () => parts.json(loaded),
      view: () => parts.view(loaded),
      ...(parts.text && { text: () => parts.text?.(loaded) ?? '' }),
    }
  }

/** A part of the path; the table of routes names all that a page asks for. */
export const part = (params: Params, name: string): string => params[name] ?? ''
