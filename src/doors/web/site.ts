/** The context of every page: the hub behind it, the door's settings, and who looks at it from where. */
import type { Caller } from '../../core/access/callers.ts'
import type { Hub } from '../../core/hub/hub.ts'
import type { Disc } from '../../core/pages/initials.ts'
import type { Marks } from '../../core/pages/marks.ts'
import type { Who } from '../../core/pages/page-message.ts'
import type { Typed } from './forms.ts'
import type { Bodies } from './markdown/bodies.ts'
import type { Ended } from './sessions.ts'

export interface WebOptions {
  readonly hub: Hub
  /** Signs cookies and the proof of a form. */
  readonly secret: string
  /** The operator's token, which a person logs in with. */
  readonly token: string | undefined
  /** Logins and codes that are over. */
  readonly ended: Ended
  /** The URL that clients know the server by; else each request's own. */
  readonly publicUrl?: string | undefined
  /** Where the mail door is, for the lines that connect a client. */
  readonly mailPath: string
  readonly version: string
}

export interface Visit {
  readonly hub: Hub
  readonly caller: Caller
  /** Whether this caller may steer agents by the forms of the pages. */
  readonly steers: boolean
  /** By the cookie of a login, which can be ended. */
  readonly signedIn: boolean
  /** Whether there is a token to log in with. */
  readonly guarded: boolean
  /** The path that was asked for, and its query. */
  readonly path: string
  readonly query: URLSearchParams
  /** How clients call this server: its public URL, else as it was called now, as `http://127.0.0.1:8765`. */
  readonly origin: string
  /** Whether a setting says how clients on other machines call it. */
  readonly reachable: boolean
  readonly mailPath: string
  readonly version: string
  /** The proof that a form of this visitor carries. */
  readonly csrf: string
  readonly theme: Theme
  readonly shortcuts: boolean
  /** The time zone of the person. */
  readonly zone: string
  readonly now: number
  /** The marks of the person who looks: they tell what is new. */
  readonly marks: Marks
  /** Where the feed of changes was before the page was read: its stream goes on from there. */
  readonly since?: string | undefined
  /** The same while nothing changes: readings that were made at it may be shown. */
  readonly mark?: string | undefined
  /** A form of this page that was sent and is shown again. */
  readonly typed?: Typed | undefined
  readonly bodies: Bodies
  /** Of an agent: they differ within a project. */
  readonly discOf: (who: Who) => Disc
  /** The address of one of the door's own files. */
  readonly asset: (name: string) => string
}

export const themes = ['auto', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

/** The same page with other parameters; those that are undefined or empty are taken out. */
export function urlWith(
  { path, query }: Pick<Visit, 'path' | 'query'>,
  changes: Readonly<Record<string, string | number | undefined>>,
): string {
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(name)
    else next.set(name, String(value))
  }
  const text = next.toString()
  return text === '' ? path : `${path}?${text}`
}

/** A path below /mail from its parts, each encoded. */
export const at = (...parts: readonly (string | number)[]): string =>
  ['/mail', ...parts.map((part) => encodeURIComponent(part))].join('/')

/** A path with a query; undefined parameters are left out. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  return urlWith({ path, query: new URLSearchParams() }, query)
}
