/** The audience of a change: the parties of a message, the members of its topic, and agents that were granted their view. */
import { nameKey } from '../../base/names.ts'
import { findAgentById } from '../../store/agents/agents.ts'
import type { FeedRow } from '../../store/feed/changes.ts'
import { findNames, findSpoken, listGrantsOn, listMemberIds, listRecipientIds } from '../../store/feed/updates.ts'
import { isReadable, type MessageFacts } from '../../store/visibility.ts'
import { hubSight } from '../access/rules.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'
import type { HubReader } from './hub-readers.ts'

/** A resource of the hub, as core knows it. */
export type Target =
  | { readonly kind: 'thread'; readonly thread: string }
  | { readonly kind: 'agent'; readonly name: string }
  | { readonly kind: 'agents' }

/** Where a subscription begins in its resource: what was there before is no news. */
export interface Mark {
  readonly threadId?: number
  /** The `seq` of a thread, or the id of an agent's newest mail. */
  readonly at: number
}

export interface Audience {
  /** Whether a change of this resource is news to whoever looks. */
  concerns(target: Target, hubReader: HubReader, mark: Mark): boolean
  /** The names that its thread goes by. */
  readonly names: readonly string[]
}

interface Names {
  readonly projectId: number
  readonly names: readonly string[]
  readonly topic: boolean
}

/** Names of threads never change. */
const namesSeen = memory(() => new Map<number, Names>())

export async function namesOf(hub: Hub, threadId: number): Promise<Names | undefined> {
  const before = namesSeen(hub).get(threadId)
  if (before !== undefined) return before
  const row = await findNames(reader(hub), threadId)
  if (row === undefined) return undefined
  const { project_id: projectId, uid, key, topic, first_id } = row
  const names = [uid, ...(key === null ? [] : [key]), ...(first_id === null ? [] : [String(first_id)])]
  // The first message of a topic comes after the topic.
  const found = { projectId, names, topic: topic !== null }
  return first_id === null ? found : remember(namesSeen(hub), threadId, found)
}

/** Undefined if the change is about something that nobody follows, or that is gone by now. */
export async function audienceOf(hub: Hub, change: FeedRow): Promise<Audience | undefined> {
  const { kind, thread_id: threadId, message_id: messageId } = change
  if (kind === 'agent.created') return ofDirectory(change)
  if (threadId === null || messageId === null) return undefined
  const [thread, spoken] = [await namesOf(hub, threadId), await findSpoken(reader(hub), messageId)]
  if (thread === undefined || spoken === undefined) return undefined
  const recipients = thread.topic ? [] : await listRecipientIds(reader(hub), messageId)
  const members = thread.topic ? await listMemberIds(reader(hub), threadId) : []
  const told = new Set([...members, ...recipients.map(({ id }) => id)])
  const { projectId, topic } = thread
  const facts: MessageFacts = { topic, projectId, members, sender: { id: spoken.sender_id }, recipients }
  const grants = Map.groupBy(await listGrantsOn(reader(hub), threadId, hub.clock.now()), ({ agent_id }) => agent_id)
  const sees = ({ agent, all, project }: HubReader): boolean =>
    (all && project.id === projectId) ||
    (agent !== undefined && isReadable(hubSight(agent.id, grants.get(agent.id)), facts))
  return {
    names: thread.names,
    concerns(target, hubReader, mark) {
      if (target.kind === 'thread')
        return (
          thread.names.includes(target.thread) &&
          (mark.threadId !== threadId || spoken.seq > mark.at) &&
          sees(hubReader)
        )
      // Of others there is nothing to be told.
      if (target.kind === 'agents' || hubReader.agent === undefined || !isSelf(target.name, hubReader)) return false
      return (
        told.has(hubReader.agent.id) && spoken.sender_id !== hubReader.agent.id && (thread.topic || messageId > mark.at)
      )
    },
  }
}

const isSelf = (name: string, { agent }: HubReader): boolean =>
  agent !== undefined && nameKey(name) === nameKey(agent.name)

const ofDirectory = ({ project_id }: FeedRow): Audience => ({
  names: [],
  concerns: (target, { project }) => target.kind === 'agents' && project.id === project_id,
})

export const nameOfAgent = async (hub: Hub, id: number): Promise<string | undefined> =>
  (await findAgentById(reader(hub), id))?.name
