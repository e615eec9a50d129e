/** Every setting there is: name, default, sentence, check. docs/config.md and .env.example are made from this table. */
import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { parseDatabaseUrl } from '../db/url.ts'
import { flag, folder, list, number, oneOf, optional, type Setting, setting, text } from './kinds.ts'
import { mailSettings } from './mail.ts'

function databaseUrl(raw: string): string | undefined {
  if (raw === '') return undefined
  try {
    parseDatabaseUrl(raw)
  } catch {
    throw new Error('must be sqlite:<file> or postgres://<user>:<password>@<host>/<database>')
  }
  return raw
}

/** What is, or will be, at other paths. */
const taken = /^\/(agents|bus|hub|mail|ws|health|metrics)(\/|$)/

export const settings = {
  APP_ENVIRONMENT: setting({
    default: 'development',
    says: 'The name of this installation, as health_check shows it, such as development or production.',
    parse: text,
  }),
  STORAGE_ROOT: setting({
    default: '~/.parley',
    says: "The folder of everything Parley keeps: the SQLite file, the secret key, later the projects' archives.",
    parse: folder,
  }),
  DATABASE_URL: setting({
    default: '',
    says: 'Where the data lives: `sqlite:<file>` or `postgres://user:password@host/database`. Empty is `parley.sqlite3` in STORAGE_ROOT.',
    secret: true,
    parse: databaseUrl,
  }),
  HTTP_HOST: setting({
    default: '127.0.0.1',
    says: 'The address to listen on. Beyond loopback set HTTP_BEARER_TOKEN too.',
    parse: (raw) => {
      if (!/^[A-Za-z0-9._:-]+$/.test(raw)) throw new Error('must be an address or a host name')
      return raw
    },
  }),
  HTTP_PORT: setting({
    default: '8765',
    says: 'The port to listen on; 0 takes any free one.',
    parse: number({ min: 0, max: 65535 }),
  }),
  HTTP_PATH: setting({
    default: '/mcp/',
    says: 'Where the mail door is served; with and without the slash at the end.',
    parse: (raw) => {
      if (!/^(\/[A-Za-z0-9._~-]+)+\/?$/.test(raw)) throw new Error('must be a path such as /mcp/')
      const path = raw.replace(/\/$/, '')
      if (taken.test(path)) throw new Error('must not be a path that Parley serves something else at')
      return path
    },
  }),
  HTTP_BEARER_TOKEN: setting({
    default: '',
    says: 'The operator’s token: whoever sends it as `Authorization: Bearer …` may act as any agent.',
    secret: true,
    parse: (raw) => {
      if (raw !== '' && !/^[\x21-\x7e]+$/.test(raw)) throw new Error('must be visible ASCII characters without spaces')
      return optional(raw)
    },
  }),
  HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: setting({
    default: 'true',
    says: 'Whether callers on this machine need no credentials. Requests that came through a proxy never count as local.',
    parse: flag,
  }),
  HTTP_ALLOWED_HOSTS: setting({
    default: '',
    says: 'More host names that clients may reach Parley by, parted by commas. Others are refused (DNS rebinding).',
    parse: list,
  }),
  SECRET_KEY: setting({
    default: '',
    says: 'What Parley signs session ids with. Empty: a key made on the first start and kept in STORAGE_ROOT. Several nodes need the same one.',
    secret: true,
    parse: (raw) => {
      if (raw !== '' && raw.length < 16) throw new Error('must have at least 16 characters')
      return optional(raw)
    },
  }),
  SESSION_TTL_SECONDS: setting({
    default: '604800',
    says: 'How long an MCP session id is honoured.',
    parse: number({ min: 1, max: 10 * 365 * 86400 }),
  }),
  MAILBOX_MAX_DEPTH: setting({
    default: '10000',
    says: 'How many unread messages an agent may have; the next one is refused with MAILBOX_FULL.',
    parse: number({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  }),
  MAX_WAIT_SECONDS: setting({
    default: '50',
    says: 'The longest that a call waits for something to happen. Many clients give up after 60 s.',
    parse: number({ min: 0, max: 86400, whole: false }),
  }),
  CHANGES_RETENTION_SECONDS: setting({
    default: '86400',
    says: 'Seconds that the feed of changes is kept at least, for whoever follows it.',
    parse: number({ min: 1, max: 10 * 365 * 86400 }),
  }),
  LOG_LEVEL: setting({
    default: 'info',
    says: 'How much is logged: fatal, error, warn, info, debug or trace; debug has a line for each request.',
    parse: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  }),
  LOG_JSON_ENABLED: setting({
    default: 'false',
    says: 'Whether the log is JSON also on a terminal. Elsewhere it always is.',
    parse: flag,
  }),
  PARLEY_ENV_FILE: setting({
    default: '.env',
    says: 'A file with settings; the environment wins over it. Only `serve` looks for `.env` in the working folder by itself.',
    parse: text,
  }),
  ...mailSettings,
} as const

type Settings = typeof settings
export type Config = { readonly [Name in keyof Settings]: ReturnType<Settings[Name]['parse']> }

/** Something is wrong with the settings; the message lists every fault. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

export interface Sources {
  /** Settings by the command line. */
  readonly flags?: Readonly<Record<string, string>>
  /**
   * Whether the `.env` of the working folder counts. It does for a server, which is started where it lives; a client
   * starts its programs in any repository, and what that repository keeps in `.env` is for another program.
   */
  readonly workingFolder?: boolean
}

/** The command line wins over the environment, that over the file, that over the defaults. */
export function loadConfig(
  env: Readonly<Record<string, string | undefined>>,
  { flags = {}, workingFolder = false }: Sources = {},
): Config {
  const faults: string[] = []
  const wanted = env.PARLEY_ENV_FILE || undefined
  const path = wanted ?? (workingFolder ? settings.PARLEY_ENV_FILE.default : undefined)
  const file = path === undefined ? {} : envFile(path, wanted !== undefined, faults)
  const config: Record<string, unknown> = {}
  for (const [name, row] of Object.entries<Setting<unknown>>(settings)) {
    // An empty value counts as unset: compose files and CI hand those over.
    const raw = [flags[name], env[name], file[name]].find((value) => value !== undefined && value !== '') ?? row.default
    try {
      config[name] = row.parse(raw)
    } catch (error) {
      const given = row.secret ? '' : `, not ${JSON.stringify(raw)}`
      faults.push(`${name} ${error instanceof Error ? error.message : String(error)}${given}`)
    }
  }
  if (faults.length > 0)
    throw new ConfigError(
      `Parley cannot start with these settings:\n${faults.map((fault) => `  - ${fault}`).join('\n')}\nEvery setting is explained in docs/config.md.`,
    )
  return config as Config
}

function envFile(path: string, wanted: boolean, faults: string[]): NodeJS.Dict<string> {
  if (!existsSync(path)) {
    if (wanted) faults.push(`PARLEY_ENV_FILE names ${JSON.stringify(path)}, which does not exist`)
    return {}
  }
  try {
    return parseEnv(readFileSync(path, 'utf8'))
  } catch (error) {
    faults.push(
      `PARLEY_ENV_FILE ${JSON.stringify(path)} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
    return {}
  }
}
