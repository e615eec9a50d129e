/** The filters of a query as the store asks them: names become agents, and `is:unread` somebody's. */
import { nameKey } from '../../base/names.ts'
import type { QueryFilter } from '../../fulltext/filters.ts'
import { listAgentIds } from '../../store/pages/message-lists.ts'
import type { SearchFilter } from '../../store/pages/search-filters.ts'
import type { Caller } from '../access/callers.ts'
import { agentOf, mayActAs } from '../access/rules.ts'
import { findIn, keyedNow } from '../agents/agents.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { findProjectCalled } from '../projects/projects.ts'

export type { SearchFilter } from '../../store/pages/search-filters.ts'

/** `of`: the agent whose unread mail is meant; left out, that of any recipient (mail.search.unread). */
export async function wantedBy(
  hub: Hub,
  filters: readonly QueryFilter[],
  of: number | undefined,
): Promise<SearchFilter> {
  const wanted: SearchFilter[number][] = []
  for (const filter of filters) {
    const { not, field } = filter
    if (field === 'is' && filter.value === 'sealed') wanted.push({ not, by: 'sealed' })
    else if (field === 'is') wanted.push({ not, by: filter.value === 'unread' ? 'unread' : 'unacked', of })
    else if (field === 'has') wanted.push({ not, by: 'attached' })
    else if (field === 'importance' || field === 'type') wanted.push({ not, by: field, word: filter.value })
    else if (field === 'after') wanted.push({ not, by: 'since', at: filter.value })
    else if (field === 'before') wanted.push({ not, by: 'until', at: filter.value - 1 })
    else if (field === 'to') wanted.push({ not, by: 'recipient', ids: await idsCalled(hub, filter.value) })
  }
  return wanted
}

/** The agent whose unread mail is meant: the caller's own, or the one that its connection names, if it may act as that. */
export async function findReader(
  hub: Hub,
  caller: Caller,
  projectId: number,
  name: string | undefined,
): Promise<number | undefined> {
  const me = agentOf(caller)
  if (me !== undefined || name === undefined) return me?.agentId
  const agent = await findIn(hub, projectId, name)
  if (agent === undefined) return undefined
  return mayActAs(caller, { ...agent, keyed: await keyedNow(hub, agent) }) ? agent.id : undefined
}

/** A name means the agents of that name in all projects. */
export async function idsCalled(hub: Hub, called: string): Promise<number[]> {
  const at = called.lastIndexOf('@')
  const home = at > 0 ? await findProjectCalled(hub, called.slice(at + 1)) : undefined
  if (at > 0 && home === undefined) return []
  return listAgentIds(reader(hub), nameKey(at > 0 ? called.slice(0, at) : called), home?.id)
}
