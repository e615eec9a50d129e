/** Where the server is that a command calls: as it is named, else by PARLEY_SERVER, else the one of this store. */
import { HubError } from '../base/errors.ts'
import type { Config } from '../settings/all.ts'
import { envFile, settingsFiles } from '../settings/files.ts'
import { httpSettings } from '../settings/http.ts'
import { installationSettings } from '../settings/installation.ts'
import { type Setting, serverUrl, storageRoot } from '../settings/kinds.ts'
import { signInSettings } from '../settings/sign-in.ts'
import { listRunning, serverUrl as settledUrl } from './running.ts'

/** The settings that say where the server is, and which token it takes. */
const rows = {
  PARLEY_SERVER: installationSettings.PARLEY_SERVER,
  STORAGE_ROOT: storageRoot.says(''),
  HTTP_HOST: httpSettings.HTTP_HOST,
  HTTP_PORT: httpSettings.HTTP_PORT,
  HTTP_SOCKET: httpSettings.HTTP_SOCKET,
  HTTP_TLS_CERT: httpSettings.HTTP_TLS_CERT,
  HTTP_BASE_PATH: httpSettings.HTTP_BASE_PATH,
  HTTP_PUBLIC_URL: signInSettings.HTTP_PUBLIC_URL,
  HTTP_BEARER_TOKEN: httpSettings.HTTP_BEARER_TOKEN,
} as const satisfies Partial<Record<keyof Config, Setting<unknown>>>

export type ServerSettings = Pick<Config, keyof typeof rows>

/** For programs that clients start: a fault in another setting is no reason to stay away, and one in these means the default. */
export function serverSettings(
  env: Readonly<Record<string, string | undefined>>,
  checkout: string | undefined,
): ServerSettings {
  const places = [env, ...settingsFiles(env, checkout).map((path) => envFile(path, false, []))]
  const read = Object.entries<Setting<unknown>>(rows).map(([name, row]) => {
    const raw = places.map((values) => values[name]).find(Boolean) ?? row.default
    // A wrong address that somebody has set is told: the calls would go elsewhere.
    if (name === 'PARLEY_SERVER' && raw !== '') return [name, serverNamed(raw, name)]
    try {
      return [name, row.parse(raw)]
    } catch {
      return [name, row.parse(row.default)]
    }
  })
  return Object.fromEntries(read) as ServerSettings
}

/** The address that a person has typed. */
export function serverNamed(given: string, where = '--server'): string {
  try {
    return serverUrl(given)
  } catch (error) {
    throw new HubError('INVALID_ARGUMENT', `${where} ${(error as Error).message}.`)
  }
}

export function serverAt(settings: ServerSettings, named?: string): string {
  if (named) return serverNamed(named)
  const { PARLEY_SERVER, HTTP_PUBLIC_URL, STORAGE_ROOT } = settings
  if (PARLEY_SERVER !== undefined) return PARLEY_SERVER
  const settled = settledUrl(settings)
  const running = listRunning(STORAGE_ROOT).map(({ url }) => url)
  const own = settled !== undefined && running.includes(settled) ? settled : (running.at(-1) ?? settled)
  // A certificate names the public host, and a Unix socket is reached by the proxy before it.
  const url = own?.startsWith('http:') ? own : (HTTP_PUBLIC_URL ?? own)
  if (url?.startsWith('unix:'))
    throw new HubError('SERVER_UNAVAILABLE', 'The server listens on a Unix socket, which this command cannot call.', {
      hint: 'Name the URL of the proxy before it with --server, PARLEY_SERVER or HTTP_PUBLIC_URL.',
    })
  if (url !== undefined) return serverUrl(url)
  throw new HubError('SERVER_UNAVAILABLE', 'No server runs on this store.', {
    hint: '`parley serve --detach` starts one; --server names another one.',
  })
}
