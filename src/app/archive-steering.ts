/** Verifying and rebuilding the archive, for the command line. */
import { renameSync, statSync } from 'node:fs'
import { Archive, lostRepositories } from '../archive/archive.ts'
import { gitVersion } from '../archive/git.ts'
import { HubError } from '../base/errors.ts'
import { rebuildArchive, verifyArchive } from '../core/archive/verifying.ts'
import type { Hub } from '../core/hub/hub.ts'
import type { ArchiveSteering } from '../doors/cli/operating/archive.ts'
import type { Config } from '../settings/all.ts'
import { archiveFolder, authorOf } from './archive-place.ts'

/** The archive's commands for people. */
export function archiveSteering(config: Config): ArchiveSteering {
  const folder = archiveFolder(config)
  async function at(hub: Hub): Promise<Archive> {
    if ((await gitVersion()) !== undefined)
      return new Archive(folder, { author: authorOf(config), newId: hub.ids.short() })
    throw new HubError('NOT_FOUND', 'git was not found on this machine.', { hint: 'Install git, and call it again.' })
  }
  return {
    folder,
    async verify(hub, caller, progress) {
      if (isFile(folder))
        throw new HubError('STORAGE_FAILED', `${folder} is a file, where the folder of the archive should be.`, {
          hint: '`parley archive rebuild` moves it aside and rebuilds the archive from the database.',
        })
      const lost = lostRepositories(folder)
      if (lost.length > 0)
        throw new HubError('STORAGE_FAILED', `The archives of projects are gone from ${folder}: ${fewOf(lost)}.`, {
          hint: '`parley archive rebuild` rebuilds them from the database; so does the next `parley serve`.',
        })
      return verifyArchive(hub, caller, await at(hub), progress)
    },
    async rebuild(hub, caller, progress) {
      // Whatever it is, it is somebody's.
      if (isFile(folder)) renameSync(folder, `${folder}.aside-${hub.ids.short()}`)
      await rebuildArchive(hub, caller, await at(hub), progress)
    },
  }
}

const fewOf = (names: readonly string[]): string =>
  `${names.slice(0, 5).join(', ')}${names.length > 5 ? `, and ${names.length - 5} more` : ''}`

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === false
