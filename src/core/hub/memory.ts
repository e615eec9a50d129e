/** The memory of a noun: its own for each hub, and never more than some thousand entries. */
import type { Hub } from './hub.ts'

/** Made when it is first asked for, and gone with the hub. */
export function memory<Kept extends object>(make: (hub: Hub) => Kept): (hub: Hub) => Kept {
  const all = new WeakMap<Hub, Kept>()
  return (hub) => {
    const kept = all.get(hub)
    if (kept !== undefined) return kept
    const made = make(hub)
    all.set(hub, made)
    return made
  }
}

/** Past some thousand it is cheaper to ask again than to grow. */
export function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): Value {
  if (map.size >= 10_000) map.clear()
  map.set(key, value)
  return value
}
