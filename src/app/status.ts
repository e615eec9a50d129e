/** `parley status`: whether a server runs on this store, and what is in it. */
import { existsSync } from 'node:fs'
import { parsedJson } from '../base/json.ts'
import { parseDatabaseUrl } from '../db/url.ts'
import type { Status } from '../doors/cli/serving/status.ts'
import type { WaitingList } from '../doors/words/desk.ts'
import type { Config } from '../settings/all.ts'
import { archiveFolder } from './archive-place.ts'
import { ask } from './asking.ts'
import { clientsSetUp } from './clients-set-up.ts'
import { databaseFiles, databaseUrl, sizeOf, storageName } from './database-place.ts'
import { listRunning, type RunningServer } from './running.ts'
import { version } from './version.ts'

/** A server that is too busy to answer is shown without its figures. */
const patienceMs = 1000

export async function statusOf(config: Config, env: NodeJS.ProcessEnv): Promise<Status> {
  const servers = await Promise.all(
    listRunning(config.STORAGE_ROOT).map(async (server) => ({ server, figures: await figuresOf(server, config) })),
  )
  const unread = servers.find(({ figures }) => figures.unread !== undefined)?.figures.unread
  // Each process of the store knows of all.
  const agents = servers.find(({ figures }) => figures.agents !== undefined)?.figures.agents
  const place = parseDatabaseUrl(databaseUrl(config))
  const files = [...(place.dialect === 'sqlite' ? databaseFiles(place.file) : []), archiveFolder(config)]
  return {
    version,
    servers: servers.map(({ server, figures: { ready, waiting } }) => ({
      ...server,
      ready,
      ...(waiting !== undefined && { waiting }),
    })),
    store: storageName(config),
    ...(place.dialect === 'sqlite' && {
      bytes: files.filter((path) => existsSync(path)).reduce((sum, path) => sum + sizeOf(path), 0),
    }),
    ...(agents !== undefined && { agents }),
    ...(unread !== undefined && { unread }),
    clients: clientsSetUp(env),
  }
}

async function figuresOf({ url }: RunningServer, { HTTP_BEARER_TOKEN: token }: Config) {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  // Its note says that the process of this very address is a server of this store.
  const get = (path: string) => ask(`${url}${path}`, { headers, patienceMs, anyCertificate: true })
  try {
    const [ready, { text }, waiting] = await Promise.all([
      get('/health/readiness'),
      get('/metrics'),
      get('/people/waiting'),
    ])
    const figure = (name: string): number | undefined => {
      const [, value] = new RegExp(`^${name} (\\d+)`, 'm').exec(text) ?? []
      return value === undefined ? undefined : Number(value)
    }
    const agents = waiting.status === 200 ? (parsedJson(waiting.text) as WaitingList).agents : undefined
    return { ready: ready.status === 200, waiting: figure('parley_waiting'), unread: figure('parley_unread'), agents }
  } catch {
    return { ready: false }
  }
}
