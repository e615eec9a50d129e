/** Guards: hooks in repositories on this machine that keep commits off the files others have reserved. */
import type { Carried } from '../../guard/hook.ts'
import { carriedFor, type Installation, installHook, uninstallHook } from '../../guard/install.ts'
import { findRepository } from '../../guard/repository.ts'
import type { Caller } from '../access/callers.ts'
import { needSteering } from '../access/rules.ts'
import type { Hub } from '../hub/hub.ts'
import { ensureProjectOfFolder } from '../projects/folders.ts'
import { needProject } from '../projects/projects.ts'

export type { Installation } from '../../guard/install.ts'

interface Guarding {
  readonly project: string
  /** The absolute path of a checkout. */
  readonly folder: string
  readonly installation: Installation
}

interface Guarded {
  /** The path of the hook. */
  readonly hook: string
  /** The slug of the project, and why it is another than the folder says. */
  readonly project: string
  readonly note?: string | undefined
}

/**
 * Without a project, that of the repository, which is made where it is new. It writes to the disk of the server: an agent
 * with a key may be anywhere (mail.guard.callers).
 */
export async function installGuard(
  hub: Hub,
  caller: Caller,
  { project, folder, installation }: Omit<Guarding, 'project'> & { readonly project?: string | undefined },
): Promise<Guarded> {
  needSteering(caller)
  const { place, note } =
    project === undefined
      ? await ensureProjectOfFolder(hub, caller, (await findRepository(folder)).top)
      : { place: await needProject(hub, caller, project) }
  const hook = await installHook(folder, place, installation)
  hub.log.info({ hook, caller: caller.key }, 'a guard was installed')
  return { hook, project: place.slug, note }
}

/** Whether there was one. */
export async function uninstallGuard(hub: Hub, caller: Caller, folder: string): Promise<boolean> {
  needSteering(caller)
  const removed = await uninstallHook(folder)
  if (removed) hub.log.info({ folder, caller: caller.key }, 'a guard was removed')
  return removed
}

/** The settings that a guard of this repository would get, without installing it. */
export async function describeGuard(
  hub: Hub,
  caller: Caller,
  { project, folder, installation }: Guarding,
): Promise<Carried> {
  needSteering(caller)
  return carriedFor(await findRepository(folder), await needProject(hub, caller, project), installation)
}
