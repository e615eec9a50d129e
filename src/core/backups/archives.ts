/** The files of a backup: exports of moved mail, and the archives of the projects, which stand still meanwhile. */
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { readState, stateFile } from '../../archive/archive.ts'
import { HubError } from '../../base/errors.ts'
import { followerName } from '../archive/follower.ts'
import { jobName } from '../feed/outside-projections.ts'
import type { Hub } from '../hub/hub.ts'
import { type JobLease, newHolder, takeJobLease, waitForJobLease } from '../hub/job-leases.ts'

/** Runs `work` while nobody adds to the archives in the folder; what is sent meanwhile is archived afterwards. */
export async function whileArchivesStand(
  hub: Hub,
  folder: string,
  work: (job: JobLease) => Promise<void>,
): Promise<void> {
  const id = readState(folder)?.id
  if (id === undefined)
    return work({ batch: () => Promise.reject(new Error('there is no archive to write to')), renew: async () => {} })
  const { signal } = new AbortController()
  const taking = { name: jobName(followerName(id)), holder: newHolder(hub), everyMs: 0, signal }
  if (await waitForJobLease(hub, taking.name, () => takeJobLease(hub, taking, work))) return
  throw new HubError('DB_BUSY', 'A server is still writing the archive.', {
    hint: 'No backup was made. Wait until it is done, and try again.',
  })
}

const entriesOf = (folder: string) =>
  readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })

export interface OpenFile {
  /** Relative to the folder, with slashes. */
  readonly name: string
  readonly size: number
  readonly handle: FileHandle
}

/**
 * The repository of a project. All files beside it are in it, attachments too, and are checked out after a restore. `index`
 * and `shown` say that they are: both stay behind.
 */
const kept = (path: string): boolean =>
  /^\.git(\/|$)/.test(path) && !/^\.git\/(index(\.lock)?|parley\/shown)$|\.lock$/.test(path)

/** Whatever `git` joins or removes from now on stays readable: the files are open. */
export async function openArchive(folder: string, project: string): Promise<OpenFile[]> {
  for (let tries = 1; ; tries++) {
    const files: OpenFile[] = []
    try {
      for (const name of await filesBelow(join(folder, project), kept)) {
        const handle = await open(join(folder, project, name))
        files.push({ name: `${project}/${name}`, handle, size: (await handle.stat()).size })
      }
      return files
    } catch (error) {
      for (const { handle } of files) await handle.close()
      // Git has just joined small packs into a large one.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === 5) throw error
    }
  }
}

/** Exports that are whole, of old mail that was moved out. */
export async function openExports(folder: string): Promise<OpenFile[]> {
  const files: OpenFile[] = []
  for (const entry of await entriesOf(folder)) {
    if (!entry.isFile() || !exportName.test(entry.name)) continue
    const handle = await open(join(folder, entry.name))
    files.push({ name: entry.name, handle, size: (await handle.stat()).size })
  }
  return files
}

export const exportName = /^[\w-][\w.-]*\.jsonl$/

/** The file beside the projects, if there is an archive. */
export async function openState(folder: string): Promise<OpenFile | undefined> {
  const handle = await open(join(folder, stateFile)).catch(() => undefined)
  return handle && { name: stateFile, handle, size: (await handle.stat()).size }
}

async function filesBelow(root: string, wanted: (path: string) => boolean): Promise<string[]> {
  const found: string[] = []
  async function look(folder: string): Promise<void> {
    for (const entry of await entriesOf(folder)) {
      const path = relative(root, join(folder, entry.name)).split(sep).join('/')
      if (!wanted(path)) continue
      if (entry.isDirectory()) await look(join(folder, entry.name))
      else if (entry.isFile()) found.push(path)
    }
  }
  await look(root)
  return found.sort()
}
