/** Tells people that the server on the port of their settings works on another store than the one they look into. */
import { statSync } from 'node:fs'
import { createWire } from '../doors/connect/wire.ts'
import { listRunning } from './running.ts'

/** Nobody waits longer for a warning. */
const patienceMs = 500

/** The id of its store, as readiness tells it; undefined where no Parley answers, or an older one. */
async function storeOfServer(url: string): Promise<string | undefined> {
  const wire = createWire(new URL('/health/readiness', url), { connection: 'close' })
  try {
    const { headers, messages } = await wire({ method: 'GET', headers: {}, signal: AbortSignal.timeout(patienceMs) })
    // Read to its end: a connection that is left open would keep the command from ending.
    for await (const _ of messages());
    const { [storeHeader]: id } = headers
    return typeof id === 'string' ? id : undefined
  } catch {
    return undefined
  }
}

/** A copy of a database has the id of the first: of SQLite the file is told apart, too. */
export const markOf = (id: string, place: { dialect: string; file?: string }): string =>
  place.file === undefined ? id : `${id}-${statSync(place.file, { throwIfNoEntry: false })?.ino ?? 0}`

const storeHeader = 'x-parley-store'

interface Looking {
  readonly storageRoot: string
  /** Where the server would be; undefined where the system chooses the port. */
  readonly url: string | undefined
  /** The store that is looked into, as a person may read it. */
  readonly store: string
  id(): Promise<string>
}

/** A server of this very folder has left its note there: then nobody is asked. */
export async function warnOfOtherStore({ storageRoot, url, store, id }: Looking): Promise<string | undefined> {
  if (url === undefined || !url.startsWith('http:')) return undefined
  const { port } = new URL(url)
  if (listRunning(storageRoot).some((server) => new URL(server.url).port === port)) return undefined
  const other = await storeOfServer(url)
  if (other === undefined || other === (await id())) return undefined
  return `the server at ${new URL(url).origin} works on another store than this one, ${store}. Set STORAGE_ROOT or DATABASE_URL as it has them; \`parley config show\` tells where each setting comes from.`
}
