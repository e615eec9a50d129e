/** The settings that init wants for each client: the edits of its files, and the steps that are left to a person. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { agentsBlock } from './agents-block.ts'
import { type Client, type HttpServer, type Places, type Scope, serverName } from './client.ts'
import { type ClientName, clientOf } from './clients.ts'
import type { Hooking } from './hook-lines.ts'
import type { WantedFile } from './plan.ts'
import type { Edit, Json } from './shapes.ts'

/** Over HTTP, or by a program that holds the key: no secret ever stands in a settings file. */
export type Reached =
  | {
      readonly by: 'http'
      readonly url: string
      /** Whether the URL says who calls. */
      readonly namesAgent: boolean
    }
  | { readonly by: 'stdio'; readonly command: string; readonly args: readonly string[] }

export interface Setup {
  readonly scope: Scope
  readonly places: Places
  readonly server: Reached
  readonly agent: string | undefined
  /** Given by hand: it stands in every URL. */
  readonly project: string | undefined
  readonly allow: boolean
  /** Absent where no hooks are wanted. */
  readonly hooking?: Hooking | undefined
  /** Whether agents are told about the mail in AGENTS.md or CLAUDE.md. */
  readonly guidance: boolean
  /** The list of files that git passes over on this machine alone; undefined outside of a repository. */
  readonly excludeFile: string | undefined
}

export function wantedFiles(name: ClientName, setup: Setup): WantedFile[] {
  const { scope, places, allow, hooking, excludeFile } = setup
  const client = clientOf(name)
  const site = scope === 'user' ? client.user(places) : client.here?.(places)
  if (site === undefined) return []
  const allowing = allow ? client.allow : undefined
  const entry: Json = { ...(entryOf(client, setup) as object), ...allowing?.inEntry }
  const settings: WantedFile[] = [
    { client: name, ...site, edits: [{ kind: 'entry', path: [...site.path, serverName], value: entry }] },
  ]
  const elsewhere = allowing?.elsewhere?.(places, scope)
  if (elsewhere !== undefined) {
    const { edit, ...where } = elsewhere
    settings.push({ client: name, ...where, edits: [edit] })
  }
  const hooks = hooking && client.hooks?.(places, scope, hooking)
  if (hooks !== undefined) settings.push({ client: name, ...hooks })
  const block: Edit = { kind: 'block', ...agentsBlock }
  const guidance = guidanceFile(client, setup)
  return [
    ...settings,
    ...(guidance === undefined ? [] : [{ client: name, file: guidance, format: 'markdown' as const, edits: [block] }]),
    ...(excludeFile === undefined ? [] : excluded(name, { settings, guidance, folder: places.folder, excludeFile })),
  ]
}

/** Paths in the folder that stay on this machine: git passes them over. */
function excluded(
  client: ClientName,
  given: {
    readonly settings: readonly WantedFile[]
    readonly guidance: string | undefined
    readonly folder: string
    readonly excludeFile: string
  },
): WantedFile[] {
  const { settings, guidance, folder, excludeFile } = given
  const inFolder = (file: string) => file.startsWith(folder + sep)
  const own = settings.map(({ file }) => file).filter(inFolder)
  if (own.length === 0 && (guidance === undefined || !inFolder(guidance))) return []
  const paths = [...new Set(own.map((file) => `/${relative(folder, file).split(sep).join('/')}`))]
  const edits: Edit[] = [
    { kind: 'block', name: 'init', lines: ['*.parley-backup*'] },
    ...(paths.length === 0 ? [] : [{ kind: 'block' as const, name: `init ${client}`, lines: paths }]),
  ]
  return [{ client, file: excludeFile, format: 'lines', edits }]
}

function guidanceFile({ guidance }: Client, { scope, places, guidance: asked }: Setup): string | undefined {
  if (!asked) return undefined
  if (scope === 'user') {
    const file = guidance.user?.(places)
    // OpenClaw makes its workspace itself.
    return file?.includes(`${sep}workspace${sep}`) && !existsSync(dirname(file)) ? undefined : file
  }
  const file = join(places.folder, guidance.here)
  const shared = join(places.folder, 'AGENTS.md')
  return file !== shared && importsShared(file) ? shared : file
}

/** Whether a CLAUDE.md takes AGENTS.md in: the block then stands there, once. */
function importsShared(file: string): boolean {
  try {
    return /^\s*@(\.\/)?AGENTS\.md\s*$/m.test(readFileSync(file, 'utf8'))
  } catch {
    return false
  }
}

function entryOf(client: Client, { scope, places, server, agent, project }: Setup): Json {
  if (server.by === 'stdio') return client.stdio(server.command, server.args)
  // A file of one folder names that folder, unless the client does.
  const own = project ?? (scope === 'here' && !client.sendsRoots ? places.folder : undefined)
  return client.http(httpServer(client, { ...server, agent, project: own }))
}

/** The agent, and the run that `parley run` started it for, in headers; the project in the query, percent-encoded: a path with other letters in a header breaks the connection of three clients. */
export function httpServer(
  { variable }: Client,
  given: {
    readonly url: string
    readonly namesAgent?: boolean
    readonly agent?: string | undefined
    readonly project?: string | undefined
  },
): HttpServer {
  const { url, namesAgent = false, agent = variable?.('AGENT_NAME'), project } = given
  const query = project === undefined ? '' : `${url.includes('?') ? '&' : '?'}project=${encodeURIComponent(project)}`
  const headers = {
    ...(agent !== undefined && !namesAgent && { 'X-Parley-Agent': agent }),
    ...(variable && { 'X-Parley-Run': variable('PARLEY_RUN') }),
  }
  return { url: `${url}${query}`, ...(Object.keys(headers).length > 0 && { headers }) }
}
