/** The public ids of agents and contacts: their numbers made into UUIDs that no other installation has. */
import { uuidOfName } from '../../base/ids.ts'
import { findMeta } from '../../store/meta.ts'
import { type Hub, reader } from './hub.ts'
import { memory } from './memory.ts'

const namespaces = memory((): { read?: Promise<string> } => ({}))

/** A function, because one look at the database serves for all of them. */
export async function publicIds(hub: Hub): Promise<(noun: 'agent' | 'contact', id: number) => string> {
  const kept = namespaces(hub)
  kept.read ??= findMeta(reader(hub), 'uuid_namespace').then((found = '') => found)
  const namespace = await kept.read.catch((error: unknown) => {
    delete kept.read
    throw error
  })
  return (noun, id) => uuidOfName(namespace, `${noun}:${id}`)
}
