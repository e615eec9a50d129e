/** Resources of the hub: agents, threads, and what goes along with messages. */
import { z } from 'zod'
import { HubError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { readEnclosure } from '../../core/threads/attachments.ts'
import { findListed, listDirectory } from '../../core/threads/directory.ts'
import { listOwnThreads, viewThread } from '../../core/threads/hub-threads.ts'
import type { CallContext, ListedResource, Resource } from '../mcp/table.ts'
import { toContent } from '../words/attachments.ts'
import { limitParameter, numberParameter, readParameters } from '../words/parameters.ts'
import { pageLimits } from './fields.ts'
import { type HubScope, hubCallerOf } from './scope.ts'
import { threadUri, toAgent, toOwnThread, toThread } from './shapes.ts'

const place = numberParameter(0, Number.MAX_SAFE_INTEGER)
const page = { cursor: place.optional(), limit: limitParameter(pageLimits.usual, pageLimits.most) }
const parts = z.object({ ...page, offset: place.optional() })

/** The agents begin behind a name, not at a number. */
const directory = z.object({
  cursor: z.string().optional(),
  limit: limitParameter(pageLimits.most, pageLimits.most),
})

const agentsUri = 'apm2://agents'

const agents = (hub: Hub): Omit<Resource<HubScope>, 'uri'> => ({
  name: 'agents',
  description: 'The agents by name, up to 200 at a time: status, reachability, last activity. next_cursor goes on.',
  async read(params, context) {
    const { cursor: after, limit } = readParameters(directory, params)
    const { agents, next } = await listDirectory(hub, hubCallerOf(context), { after, limit })
    return { agents: agents.map(toAgent), next_cursor: next ?? null, has_more: next !== undefined }
  },
})

export const hubResources = (hub: Hub): Resource<HubScope>[] => [
  // A template for the pages behind the first; and without its parameters it stands in the list.
  { uri: `${agentsUri}{?cursor,limit}`, ...agents(hub) },
  { uri: agentsUri, ...agents(hub) },
  {
    uri: 'apm2://agents/{agentId}{?cursor,limit}',
    name: 'agent',
    description: 'An agent; of yourself also your threads, those with the newest messages first.',
    async read({ agentId = '', ...rest }, context) {
      const hubCaller = hubCallerOf(context)
      const { cursor, limit } = readParameters(z.object(page), rest)
      const agent = await findListed(hub, hubCaller, agentId)
      if (!agent.self) return toAgent(agent)
      const { threads, next } = await listOwnThreads(hub, hubCaller, { before: cursor, limit })
      const next_cursor = next === undefined ? null : String(next)
      return { ...toAgent(agent), threads: threads.map(toOwnThread), next_cursor, has_more: next !== undefined }
    },
  },
  {
    uri: 'apm2://threads/{threadId}{?cursor,limit,offset}',
    name: 'thread',
    description: 'The messages of a thread, oldest first; next_cursor goes on, next_offset goes on in a long text.',
    async read({ threadId = '', ...rest }, context) {
      const { cursor: after = 0, limit, offset } = readParameters(parts, rest)
      const view = await viewThread(hub, hubCallerOf(context), { thread: threadId, after, limit, offset })
      context.ifLost(view.putBack)
      return toThread(view)
    },
  },
  {
    uri: 'apm2://threads/{threadId}/attachments/{attachmentId}{?offset}',
    name: 'attachment',
    description: 'An attachment of a message; a long one in parts, by offset.',
    async read({ threadId = '', attachmentId = '', ...rest }, context) {
      const { offset = 0 } = readParameters(z.object({ offset: place.optional() }), rest)
      const [, message, position] = /^(\d{1,15})-(\d{1,3})$/.exec(attachmentId) ?? []
      if (message === undefined) throw new HubError('NOT_FOUND', 'You can see no such attachment.')
      const wish = { thread: threadId, messageId: Number(message), position: Number(position) }
      return toContent(await readEnclosure(hub, hubCallerOf(context), wish), offset)
    },
  },
]

/** One's own threads stand in the list of resources; agents are found by the directory. */
export async function listOwnResources(hub: Hub, context: CallContext<HubScope>, cursor: string | undefined) {
  const hubCaller = hubCallerOf(context)
  if (cursor !== undefined && !/^\d{1,15}$/.test(cursor))
    throw new HubError('INVALID_ARGUMENT', 'The cursor is not one that a list returned.')
  const before = cursor === undefined ? undefined : Number(cursor)
  const { threads, next } = await listOwnThreads(hub, hubCaller, { before, limit: pageLimits.usual })
  const resources: ListedResource[] = threads.map(({ thread, subject, unread }) => ({
    uri: threadUri(thread),
    name: `thread ${thread}`,
    description: `${subject} (${unread} unread)`,
  }))
  return { resources, next: next === undefined ? undefined : String(next) }
}

/** Ids of agents and of one's own threads. */
export async function completeId(
  hub: Hub,
  variable: string,
  text: string,
  context: CallContext<HubScope>,
): Promise<string[]> {
  const hubCaller = hubCallerOf(context)
  const begins = (value: string) => value.toLowerCase().startsWith(text.toLowerCase())
  if (variable === 'threadId') {
    const { threads } = await listOwnThreads(hub, hubCaller, { limit: pageLimits.most })
    return threads.map(({ thread }) => thread).filter(begins)
  }
  if (variable !== 'agentId') return []
  const { agents } = await listDirectory(hub, hubCaller, { limit: limits.listed })
  return agents.map(({ name }) => name).filter(begins)
}
