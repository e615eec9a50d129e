/** Settings → looking after the database, for `parley db`. */
import { existsSync } from 'node:fs'
import { HubError } from '../base/errors.ts'
import type { DatabaseCare } from '../db/care.ts'
import { refuseForeign } from '../db/sqlite/owner.ts'
import { parseDatabaseUrl } from '../db/url.ts'
import type { Config } from '../settings/all.ts'
import { databaseName, databaseUrl } from './database-place.ts'
import { ChangesMissing, lossAt } from './loss.ts'
import { noStore } from './open.ts'
import { needUnused } from './store.ts'

/** The database without a hub: a check must be possible where a hub would not open. */
export async function withCare<T>(config: Config, work: (care: DatabaseCare, name: string) => Promise<T>): Promise<T> {
  const care = await openCare(config)
  try {
    return await work(care, databaseName(config))
  } catch (error) {
    if (error instanceof HubError) throw error
    throw new HubError('STORAGE_FAILED', `The database cannot be read: ${(error as Error).message}.`, {
      hint: 'Nothing was changed. `parley doctor` says more; `parley restore` brings a backup back.',
      cause: error,
    })
  } finally {
    await care.close()
  }
}

async function openCare(config: Config): Promise<DatabaseCare> {
  const place = parseDatabaseUrl(databaseUrl(config))
  if (place.dialect === 'postgres') return (await import('../db/postgres/care.ts')).careOfPostgres(place.url)
  // First: SQLite clears the log away beside a file that is empty or none of its own.
  const loss = lossAt(databaseUrl(config))
  if (loss !== undefined && loss.state !== 'behind') throw new ChangesMissing(loss)
  if (!existsSync(place.file)) throw noStore(config)
  refuseForeign(place.file)
  const { vacuum, ...care } = (await import('../db/sqlite/care.ts')).careOfSqlite(place.file)
  return {
    ...care,
    async vacuum(progress) {
      if (loss !== undefined) throw new ChangesMissing(loss)
      // It writes the whole file anew; a server beside it would be refused every write meanwhile.
      await needUnused(config)
      await vacuum(progress)
    },
  }
}
