/** The greeting of an agent: its name, its project, its unread mail and the next step, in one sentence for all doors. */
import { echo } from '../../base/text.ts'
import type { Caller } from '../../core/access/callers.ts'
import { findStanding, type Said, type Standing } from '../../core/agents/connection.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { overHttp } from './hints.ts'

interface Steps {
  /** How the mail that waits is read. */
  readonly read: string
  /** The first step of a new agent. */
  readonly begin: string
}

/** Undefined where the connection does not tell both who calls and where. */
export async function greet(hub: Hub, caller: Caller, said: Said, steps: Steps): Promise<string | undefined> {
  const standing = await findStanding(hub, caller, said)
  return standing && greeting(standing, steps)
}

export function greeting({ name, project, is, unread }: Standing, { read, begin }: Steps): string {
  if (is === 'foreign')
    return `Your connection calls you ${name}, but that agent has a key, and you sent none. ${overHttp} Or take another name.`
  const you = `You are ${echo(name)} in the project ${echo(project)}`
  if (is === 'new') return `${you}, and new there. ${begin}`
  const waits = unread === 0 ? 'no unread messages' : unread === 1 ? '1 unread message' : `${unread} unread messages`
  return `${you}, with ${waits}.${unread === 0 ? '' : ` ${read}`}`
}
