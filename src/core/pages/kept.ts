/** Readings that pages share, kept while the feed stands still: 500 open pages that ask at once cost one reading. */
import type { Caller } from '../access/callers.ts'
import { homeOf, mayRoam, pageSight } from '../access/rules.ts'
import type { Hub } from '../hub/hub.ts'
import { memory } from '../hub/memory.ts'

interface Kept {
  readonly mark: string
  readonly at: number
  readonly value: Promise<unknown>
}

const kept = memory(() => new Map<string, Kept>())

/** Time alone makes an agent stuck and a lease end: that is seen so much later. */
const keptMs = 2000
const mostKept = 100

interface Keeping {
  /** Names the reading, with all that it is asked for. */
  readonly name: string
  /** The mark of the end of the feed before it is read; undefined to read anew. */
  readonly mark: string | undefined
}

/** Callers of the same sight share a reading, and no others. */
export function keep<Value>(
  hub: Hub,
  caller: Caller,
  { name, mark }: Keeping,
  read: () => Promise<Value>,
): Promise<Value> {
  if (mark === undefined) return read()
  const key = JSON.stringify([name, pageSight(caller), homeOf(caller), mayRoam(caller)])
  const all = kept(hub)
  const now = hub.clock.monotonic()
  const known = all.get(key)
  if (known !== undefined && known.mark === mark && now - known.at < keptMs) return known.value as Promise<Value>
  const value = read()
  if (all.size >= mostKept) all.clear()
  const entry = { mark, at: now, value }
  all.set(key, entry)
  value.catch(() => {
    if (all.get(key) === entry) all.delete(key)
  })
  return value
}
