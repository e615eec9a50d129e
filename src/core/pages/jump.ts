/** Jumping: threads by their key and subject, agents and projects by their names, as somebody types. */
import type { Phrase, Query } from '../../fulltext/query.ts'
import { wordsOf } from '../../fulltext/words.ts'
import { listAgentsLike, listProjectsLike } from '../../store/pages/projects.ts'
import { listFirstSubjects } from '../../store/pages/threads.ts'
import type { Caller } from '../access/callers.ts'
import { homeOf, pageSight } from '../access/rules.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { slugOfProject } from '../projects/projects.ts'
import { findAsked } from '../search/asking.ts'
import { listPageMessages, type PageMessage, type Who } from './page-message.ts'
import { listAllThreads } from './unified-inbox.ts'

/** A message of the thread, with what the thread is called. */
type FoundThread = PageMessage & { readonly title: string | undefined }

export interface Places {
  readonly threads: readonly FoundThread[]
  readonly agents: readonly Who[]
  readonly projects: readonly string[]
}

const shown = { threads: 8, agents: 6, projects: 6 } as const
/** Several hits may be of one thread. */
const mostHits = 40
const longest = 200

/** Without words the newest threads and some projects. */
export async function findPlaces(hub: Hub, caller: Caller, typed: string): Promise<Places> {
  const text = typed.trim().slice(0, longest).toLowerCase()
  const only = homeOf(caller)
  const projects = await listProjectsLike(reader(hub), { only, q: text, after: 0, limit: shown.projects })
  if (text === '')
    return {
      threads: (await listAllThreads(hub, caller, { limit: shown.threads })).items,
      agents: [],
      projects: projects.map(({ slug }) => slug),
    }
  const agents: Who[] = []
  for (const { name, project_id } of await listAgentsLike(reader(hub), { only, q: text, limit: shown.agents }))
    agents.push({ name, project: await slugOfProject(hub, project_id) })
  return { threads: await threadsLike(hub, caller, text), agents, projects: projects.map(({ slug }) => slug) }
}

/** By the index of search: the last word is perhaps not typed to its end. A key that is typed whole comes first. */
async function threadsLike(hub: Hub, caller: Caller, text: string): Promise<readonly FoundThread[]> {
  const terms = text.split(/\s+/).flatMap((term) => (wordsOf(term).length === 0 ? [] : [wordsOf(term)]))
  const all = terms.slice(0, 8).map((words, at) => named(words, at === terms.length - 1))
  if (all.length === 0) return []
  const query: Query = { kind: 'and', all, but: [] }
  const sight = pageSight(caller)
  const place = { pages: sight, projectId: undefined }
  const { ranked } = await findAsked(hub, place, { query, phrases: all.flatMap(({ any }) => any) })
  const ids = ranked.slice(0, mostHits).map(({ id }) => id)
  const threads = new Map<number, PageMessage>()
  for (const message of await listPageMessages(hub, sight, ids))
    if (!threads.has(message.threadId)) threads.set(message.threadId, message)
  const isKey = ({ thread }: PageMessage): number => (thread?.toLowerCase() === text ? 0 : 1)
  const found = [...threads.values()].sort((a, b) => isKey(a) - isKey(b)).slice(0, shown.threads)
  const threadIds = found.map(({ threadId }) => threadId)
  const titles = await listFirstSubjects(reader(hub), threadIds, sight)
  return found.map((message) => ({ ...message, title: message.topic ?? titles.get(message.threadId) }))
}

const leastPrefix = 2

function named(words: readonly string[], last: boolean): { readonly kind: 'or'; readonly any: readonly Phrase[] } {
  const prefix = last && (words.at(-1)?.length ?? 0) >= leastPrefix
  return {
    kind: 'or',
    any: (['subject', 'thread'] as const).map((field) => ({ kind: 'phrase', words, prefix, field })),
  }
}
