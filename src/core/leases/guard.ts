/** Guards: hooks in repositories on this machine that keep commits off the files others have reserved. */
import type { Carried } from '../../guard/hook.ts'
import { carriedFor, type Installation, installHook, uninstallHook } from '../../guard/install.ts'
import { findRepository } from '../../guard/repository.ts'
import type { Caller } from '../access/callers.ts'
import { needSteering } from '../access/rules.ts'
import type { Hub } from '../hub/hub.ts'
import { needProject } from '../projects/projects.ts'

export type { Installation } from '../../guard/install.ts'

export interface Guarding {
  readonly project: string
  /** The absolute path of a checkout. */
  readonly folder: string
  readonly installation: Installation
}

/** Returns the path of the hook. It writes to the disk of the server: an agent with a key may be anywhere (mail.guard.callers). */
export async function installGuard(
  hub: Hub,
  caller: Caller,
  { project, folder, installation }: Guarding,
): Promise<string> {
  needSteering(caller)
  const hook = await installHook(folder, await needProject(hub, caller, project), installation)
  hub.log.info({ hook, caller: caller.key }, 'a guard was installed')
  return hook
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
