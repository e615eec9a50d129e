/** The shape of a client's row: where its settings are, how it writes a server down, and what it can carry. */
import type { HooksOf } from './hooks.ts'
import type { Edit, Format, Json } from './shapes.ts'

/** The name of the server in every settings file. */
export const serverName = 'parley'

/** Where files are looked for. */
export interface Places {
  readonly home: string
  /** The folder that the settings are for: the root of a repository, or the working folder. */
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly platform: string
}

/** A file with MCP servers, and where they stand in it. */
export interface Site {
  readonly file: string
  readonly format: Extract<Format, 'json' | 'toml'>
  readonly path: readonly string[]
}

export interface HttpServer {
  readonly url: string
  /** Absent where there are none. */
  readonly headers?: Readonly<Record<string, string>>
}

export type Scope = 'user' | 'here'

/** How a client is told to call Parley's tools without asking: in the entry of the server, or in a file of its own. */
interface Allowing {
  readonly inEntry?: { readonly [key: string]: Json }
  readonly elsewhere?: (places: Places, scope: Scope) => { file: string; format: Format; edit: Edit }
}

export interface Client {
  readonly title: string
  /** Names on the PATH, and files or folders in the home, by which it is found. */
  readonly programs: readonly string[]
  readonly traces: readonly string[]
  readonly user: (places: Places) => Site
  /** Absent where it has no settings of one folder that stay on this machine. */
  readonly here?: (places: Places) => Site
  readonly http: (server: HttpServer) => Json
  readonly stdio: (command: string, args: readonly string[]) => Json
  /** How a header names a variable of the environment, empty where that is not set. Absent where its headers have none that can be relied on. */
  readonly variable?: (name: string) => string
  /** It says by itself, in MCP roots, which folder it works in. */
  readonly sendsRoots?: true
  readonly allow?: Allowing
  /** Hooks that tell it of mail and wake it. Absent where it has no way in. */
  readonly hooks?: HooksOf
  /** The file that it reads before it works: in a folder, and for the user. */
  readonly guidance: { readonly here: string; readonly user?: (places: Places) => string }
  /** One line that does the same by hand, where the client has a command for it. */
  readonly byHand?: (server: HttpServer) => string
  /** Steps that are left to a person. */
  readonly todo: (given: Given) => readonly string[]
}

interface Given {
  readonly scope: Scope
  readonly agent: string | undefined
  readonly allow: boolean
  readonly by: 'http' | 'stdio'
  readonly hooks: boolean
  readonly hold: boolean
}
