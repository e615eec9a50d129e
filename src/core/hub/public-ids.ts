/** The public ids of agents and contacts: their numbers made into UUIDs that no other installation has. */
import { uuidOfName } from '../../base/ids.ts'
import { findMeta } from '../../store/meta.ts'
import { type Hub, reader } from './hub.ts'
import { memory } from './memory.ts'

const namespaces = memory((): { read?: Promise<string> } => ({}))

/** A function, because one look at the database serves for all of them. */
export async function publicIds(hub: Hub): Promise<(noun: 'agent' | 'contact', id: number) => string> {
  const namespace = await namespaceOf(hub)
  return (noun, id) => uuidOfName(namespace, `${noun}:${id}`)
}

/** The same for every process on one database, and for no other database but its copies. */
export const storeId = async (hub: Hub): Promise<string> => storeIdOf(await namespaceOf(hub))

export const storeIdOf = (namespace: string): string => uuidOfName(namespace, 'store')

async function namespaceOf(hub: Hub): Promise<string> {
  const kept = namespaces(hub)
  kept.read ??= findMeta(reader(hub), 'uuid_namespace').then((found = '') => found)
  return kept.read.catch((error: unknown) => {
    delete kept.read
    throw error
  })
}
