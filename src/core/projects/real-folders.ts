/** The folders of this machine that paths lead to, for callers whom files are read for; each look is good for a few seconds. */
import { isAbsolutePath } from '../../base/names.ts'
import { findRealFolder, type RealFolder } from '../../folders/real-folder.ts'
import type { Caller } from '../access/callers.ts'
import { mayReadFiles } from '../access/rules.ts'
import type { Hub } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'

interface Look {
  readonly folder: RealFolder | undefined
  readonly at: number
}

/** A link may be changed: whoever goes by it is elsewhere soon, and not in the middle of a call. */
const freshMs = 5000

const looks = memory(() => new Map<string, Look>())

const isFresh = (hub: Hub, look: Look | undefined): look is Look =>
  look !== undefined && Math.abs(hub.clock.now() - look.at) < freshMs

/** The result of the last look, if that was just now. */
export function freshReal(hub: Hub, caller: Caller, path: string): RealFolder | undefined {
  const look = looks(hub).get(path)
  return mayReadFiles(caller) && isFresh(hub, look) ? look.folder : undefined
}

/** Undefined where there is no such folder, or the caller may be anywhere: its paths are those of another machine. */
export async function findReal(hub: Hub, caller: Caller, path: string): Promise<RealFolder | undefined> {
  if (!mayReadFiles(caller) || !isAbsolutePath(path)) return undefined
  const look = looks(hub).get(path)
  if (isFresh(hub, look)) return look.folder
  const { worktreesApart } = hub.rules
  const folder = await findRealFolder(path.trim(), { worktreesApart })
  return remember(looks(hub), path, { folder, at: hub.clock.now() }).folder
}
