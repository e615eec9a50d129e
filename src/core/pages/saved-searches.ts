/** Searches that a person keeps, by name or for the browser: nobody else sees them (web.search.saved). */
import { HubError } from '../../base/errors.ts'
import { firstLine } from '../../base/text.ts'
import { countSaved, deleteSaved, insertSaved } from '../../store/pages/people.ts'
import type { Caller } from '../access/callers.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import type { Person, SavedSearch } from './marks.ts'

const mostSaved = 50
const longest = { path: 2000, title: 200 } as const

export async function saveSearch(
  hub: Hub,
  caller: Caller,
  { key }: Person,
  { path, title }: SavedSearch,
): Promise<void> {
  if (!/^\/mail\/(?:[^/?#\\\p{Cc}]+\/)?search\?[^#\\\p{Cc}]+$/u.test(path) || path.length > longest.path)
    throw new HubError('INVALID_ARGUMENT', 'The search to keep must be the path of a search, with its query.')
  const own = needKept(key)
  if ((await countSaved(reader(hub), own)) >= mostSaved)
    throw new HubError('INVALID_ARGUMENT', `There are ${mostSaved} kept searches.`, { hint: 'Remove one first.' })
  const shown = firstLine(title).trim().slice(0, longest.title) || 'Search'
  await commit(hub, caller, (tx) => insertSaved(tx, own, { path, title: shown, now: hub.clock.now() }))
}

export async function forgetSearch(hub: Hub, caller: Caller, { key }: Person, path: string): Promise<void> {
  const own = needKept(key)
  await commit(hub, caller, (tx) => deleteSaved(tx, own, path))
}

function needKept(key: string | undefined): string {
  if (key !== undefined) return key
  throw new HubError('INVALID_ARGUMENT', 'A browser without cookies keeps no searches.')
}
