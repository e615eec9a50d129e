/** `parley restore`: a backup becomes the store of this installation, whole or not at all. */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { Archive } from '../archive/archive.ts'
import { systemClock } from '../base/clock.ts'
import { HubError } from '../base/errors.ts'
import { createIds } from '../base/ids.ts'
import { firstLine } from '../base/text.ts'
import { damaged } from '../core/backups/manifest.ts'
import { checkBackup, restoreArchives, restoreDatabase, restoreExports } from '../core/backups/reading.ts'
import { type OpenOptions, openDb } from '../db/open.ts'
import { acknowledgedFile, forgetAcknowledged } from '../db/sqlite/acknowledged.ts'
import { parseDatabaseUrl } from '../db/url.ts'
import type { Restored, RestoreWish } from '../doors/cli/operating/restore.ts'
import type { Config } from '../settings/all.ts'
import { archiveFolder, authorOf } from './archive-place.ts'
import { databaseFiles, databaseName, databaseUrl, databaseWays } from './database-place.ts'
import { retentionFolder } from './retention.ts'
import { isStoreThere, needUnused, removeArchive } from './store.ts'

export async function restoreStore(config: Config, { file, force, progress }: RestoreWish): Promise<Restored> {
  const manifest = await checkBackup(file)
  const there = await isStoreThere(config)
  const database = databaseName(config).replace(/^sqlite:/, '')
  if (there && !force)
    throw new HubError('INVALID_ARGUMENT', `There is a store at ${database} or ${archiveFolder(config)} already.`, {
      hint: 'Nothing was changed. --force replaces it; or name another place with STORAGE_ROOT and DATABASE_URL.',
    })
  if (there) await needUnused(config)
  mkdirSync(config.STORAGE_ROOT, { recursive: true, mode: 0o700 })
  const place = parseDatabaseUrl(databaseUrl(config))
  const restoring = { file, manifest, clock: systemClock, replace: there && place.dialect === 'postgres', progress }
  const draft = `${archiveFolder(config)}.restoring`
  const taken = manifest.engine === place.dialect && manifest.archives.length > 0
  try {
    rmSync(draft, { recursive: true, force: true })
    // Of another engine the feed of changes is left behind, by which the archives would go on: the server makes them anew.
    if (taken) await restoreArchives(file, draft)
    if (place.dialect === 'sqlite') await besideThenInstead(place.file, restoring)
    else await intoUrl(databaseUrl(config), restoring, databaseWays(config))
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw error instanceof HubError ? error : damaged(file, firstLine((error as Error).message), error)
  }
  await restoreExports(file, retentionFolder(config))
  // The database first: without archives, or with old ones, the server makes them anew.
  removeArchive(config)
  if (existsSync(draft)) renameSync(draft, archiveFolder(config))
  if (taken) await showFiles(config)
  return { database, manifest, archives: taken }
}

/** The files of the archives are in their repositories. Where git is missing or fails, the next server tries again. */
async function showFiles(config: Config): Promise<void> {
  const archive = new Archive(archiveFolder(config), {
    author: authorOf(config),
    newId: createIds(systemClock).short(),
  })
  await archive.show().catch(() => {})
  archive.close()
}

type Restoring = Parameters<typeof restoreDatabase>[1]

async function besideThenInstead(file: string, restoring: Restoring): Promise<void> {
  const draft = `${file}.restoring`
  for (const path of databaseFiles(draft)) rmSync(path)
  try {
    await intoUrl(`sqlite:${draft}`, restoring)
  } catch (error) {
    for (const path of databaseFiles(draft)) rmSync(path)
    throw error
  }
  // The -wal and -shm files beside either of them belong to no database any more.
  for (const path of [...databaseFiles(file), ...databaseFiles(draft)])
    if (path !== file && path !== draft && path !== acknowledgedFile(file)) rmSync(path)
  renameSync(draft, file)
  // Last: a death before this is told at the next start, and the restore is done again.
  forgetAcknowledged(file)
}

async function intoUrl(url: string, restoring: Restoring, options?: OpenOptions): Promise<void> {
  const db = await openDb(url, options)
  try {
    await restoreDatabase(db, restoring)
  } finally {
    await db.close()
  }
}
