/** The listener on the port of the settings: nobody, this store's server, that of another store, or another program. */
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { storeIdOf } from '../core/hub/public-ids.ts'
import { openDb } from '../db/open.ts'
import { openReadOnly } from '../db/sqlite/read-only.ts'
import { parseDatabaseUrl } from '../db/url.ts'
import type { Config } from '../settings/all.ts'
import { findMeta } from '../store/meta.ts'
import { databaseUrl, databaseWays, storageName } from './database-place.ts'
import { type Check, fault, ok, warning } from './findings.ts'
import { healthOf, noAnswer } from './health.ts'
import { markOf, warnOfOtherStore } from './other-store.ts'
import { serverUrl } from './running.ts'

export async function* port(config: Config): Check {
  const { HTTP_HOST, HTTP_PORT, HTTP_SOCKET } = config
  const where = HTTP_SOCKET ?? `${HTTP_HOST}:${HTTP_PORT}`
  const code =
    HTTP_SOCKET === undefined
      ? await listenOnce(HTTP_HOST, HTTP_PORT)
      : existsSync(HTTP_SOCKET)
        ? 'EADDRINUSE'
        : undefined
  if (code === undefined) return yield ok('port', `${where} is free`)
  const other = 'Choose another address with HTTP_HOST and HTTP_PORT, or stop the other program.'
  if (code !== 'EADDRINUSE') return yield fault('port', `Nobody can listen on ${where}: ${code}.`, other)
  const { ready, status } = await healthOf(config)
  if (status === noAnswer) yield fault('port', `Another program listens on ${where}.`, other)
  else if (ready) yield* served(config, where)
  else yield fault('port', `The Parley on ${where} is not ready.`, 'Its log has the cause.')
}

/** Whether the server there works on this store. */
async function* served(config: Config, where: string): Check {
  const place = parseDatabaseUrl(databaseUrl(config))
  const id = async () => {
    if (place.dialect === 'sqlite' && !existsSync(place.file)) return ''
    const db = place.dialect === 'sqlite' ? openReadOnly(place.file) : await openDb(place.url, databaseWays(config))
    try {
      const namespace = await findMeta(db, 'uuid_namespace')
      return markOf(storeIdOf(namespace ?? ''), place)
    } finally {
      await db.close()
    }
  }
  const looking = { storageRoot: config.STORAGE_ROOT, url: serverUrl(config), store: storageName(config), id }
  const other = await warnOfOtherStore(looking)
  if (other === undefined) yield ok('port', `a Parley serves on ${where}`)
  else
    yield warning(
      'port',
      `A Parley serves on ${where}, but ${other.split('. ')[0]}.`,
      'Set STORAGE_ROOT or DATABASE_URL as that server has them.',
    )
}

/** The code of the error; undefined where it went well. */
function listenOnce(host: string, port: number): Promise<string | undefined> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}
