/** Staging: the bytes of files are written in parts before the send, which then only names them; what no send names is deleted. */
import { Unsure } from '../../db/faults.ts'
import {
  deleteLastPart,
  deleteStaged,
  findFile,
  insertPart,
  insertStaged,
  isStaged,
  listStaged,
} from '../../store/messages/attachments.ts'
import type { Caller } from '../access/callers.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'

/** Each part is a commit, and others come in between: on SQLite nobody else is answered while one is written. */
export const partBytes = 128 * 1024

export interface StagedFile {
  readonly path: string
  readonly bytes: Buffer
}

export interface Staging {
  readonly projectId: number
  readonly files: readonly StagedFile[]
}

/** The contents that were written, by the path of their file. What the project has already is not written again. */
export type Staged = Map<string, string>

/**
 * Runs `work` with the files written, and deletes those again that it made no part of a message. Where nobody knows whether it did,
 * its commit may still be on its way: they stay, and the sweep finds those that no message names.
 */
export async function withStaged<T>(
  hub: Hub,
  caller: Caller,
  { projectId, files }: Staging,
  work: (staged: Staged) => Promise<T>,
): Promise<T> {
  if (files.length === 0) return work(new Map())
  const staged = await stage(hub, caller, { projectId, files })
  let unsure = false
  try {
    return await work(staged)
  } catch (error) {
    unsure = error instanceof Unsure
    throw error
  } finally {
    if (!unsure) await discard(hub, caller, staged)
  }
}

export async function stage(hub: Hub, caller: Caller, { projectId, files }: Staging): Promise<Staged> {
  const staged: Staged = new Map()
  try {
    await sweep(hub, caller)
    for (const { path, bytes } of files) {
      if ((await findFile(reader(hub), projectId, path)) !== undefined) continue
      const content = hub.ids.uuid()
      staged.set(path, content)
      for (let at = 0, position = 0; at < bytes.length || position === 0; at += partBytes, position++)
        await commit(hub, caller, async (tx) => {
          if (position === 0) await insertStaged(tx, content, hub.clock.now())
          await insertPart(tx, content, position, bytes.subarray(at, at + partBytes))
        })
    }
    return staged
  } catch (error) {
    await discard(hub, caller, staged)
    throw error
  }
}

/** Deletes what no file names. It is deleted later where that fails. */
async function discard(hub: Hub, caller: Caller, staged: Staged): Promise<void> {
  try {
    for (const content of staged.values()) if (await isStaged(reader(hub), content)) await remove(hub, caller, content)
  } catch (error) {
    hub.log.warn({ err: error }, 'the bytes of an attachment that was not sent are deleted later')
  }
}

/** From the end: what is cut off in between is still known as staged. */
async function remove(hub: Hub, caller: Caller, content: string): Promise<void> {
  while (await commit(hub, caller, (tx) => deleteLastPart(tx, content)));
  await commit(hub, caller, (tx) => deleteStaged(tx, content))
}

/** Longer than any send takes from its first byte on. */
const abandonedMs = 3_600_000
const contentsAtOnce = 4

/** Removes all that nothing names any more. */
export async function sweepStaged(hub: Hub, caller: Caller): Promise<void> {
  while ((await listStaged(reader(hub), hub.clock.now() - abandonedMs, 1)).length > 0) await sweep(hub, caller)
}

/** Removes some of what processes that died have staged. */
async function sweep(hub: Hub, caller: Caller): Promise<void> {
  const before = hub.clock.now() - abandonedMs
  for (const content of await listStaged(reader(hub), before, contentsAtOnce)) await remove(hub, caller, content)
}
