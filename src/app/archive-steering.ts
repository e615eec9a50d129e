/** Verifying and rebuilding the archive, for the command line. */
import { Archive } from '../archive/archive.ts'
import { hasGit } from '../archive/git.ts'
import { HubError } from '../base/errors.ts'
import { rebuildArchive, verifyArchive } from '../core/archive/verifying.ts'
import type { Hub } from '../core/hub/hub.ts'
import type { ArchiveSteering } from '../doors/cli/archive.ts'
import type { Config } from '../settings/all.ts'
import { archiveFolder, authorOf } from './archive-place.ts'

/** What people may do with the archive at a command line. */
export function archiveSteering(config: Config): ArchiveSteering {
  const folder = archiveFolder(config)
  async function at(hub: Hub): Promise<Archive> {
    if (await hasGit()) return new Archive(folder, { author: authorOf(config), newId: hub.ids.short() })
    throw new HubError('NOT_FOUND', 'git was not found on this machine.', { hint: 'Install git, and call it again.' })
  }
  return {
    folder,
    verify: async (hub, caller, progress) => verifyArchive(hub, caller, await at(hub), progress),
    rebuild: async (hub, caller, progress) => rebuildArchive(hub, caller, await at(hub), progress),
  }
}
