/** Keys: what proves that a caller is one agent. A key is shown once; the hub keeps its hash. */
import { createHash } from 'node:crypto'
import { findKeyHolder } from '../../store/keys.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { agentCaller, type Caller } from './callers.ts'

const pattern = /^amb_[0-9a-f]{64}$/

export const newKey = ({ ids }: Hub): string => `amb_${ids.secret()}`

/** A key is 256 random bits: a fast hash is enough, and looking a hash up tells nothing of how much of a guess was right. */
export const hashKey = (key: string): string => createHash('sha256').update(key).digest('hex')

/** How a key begins: enough to tell the keys of an agent apart, and nothing to guess the rest from. */
export const keyPrefix = (key: string): string => key.slice(0, 8)

/** Whose key it is; undefined for anything that is no key, or no longer one. */
export async function callerOfKey(hub: Hub, key: string): Promise<Caller | undefined> {
  if (!pattern.test(key)) return undefined
  const row = await findKeyHolder(reader(hub), hashKey(key))
  return row && agentCaller({ id: row.id, projectId: row.project_id })
}
