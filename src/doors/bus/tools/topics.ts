/** The tools of the bus for topics: make, find, close, reopen, join; who is there. */
import { z } from 'zod'
import { HubError } from '../../../base/errors.ts'
import { limits } from '../../../base/limits.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { join, listPresent } from '../../../core/topics/members.ts'
import {
  closeTopic,
  createTopic,
  listTopics,
  needTopic,
  reopenTopic,
  resolveTopic,
} from '../../../core/topics/topics.ts'
import { defineTool } from '../../mcp/table.ts'
import { busName, clientId, metadata, reason, title } from '../../words/fields.ts'
import { more } from '../../words/lists.ts'
import { seconds } from '../../words/times.ts'
import { peerWords } from '../../words/topics.ts'
import { type BusScope, holderOf, projectOf } from '../holder.ts'
import { topicDetailShape, topicShape, toTopicDetail, toTopicShape } from '../shapes.ts'

const tool = defineTool<BusScope>()

export const topicId = clientId.describe('The topic_id, as topic_create or topic_list gave it.')

const warnings = z.array(z.object({ code: z.string() })).optional()

export function topicTools(hub: Hub) {
  const create = tool({
    name: 'topic_create',
    title: 'Make or find a topic',
    description: 'Make a topic that peers can join. By default an open topic of the same name is reused.',
    cluster: 'topics',
    input: z.strictObject({
      name: title.optional().describe('The name of the topic; made up if left out.'),
      metadata: metadata.optional().describe('Any JSON object to keep with the topic.'),
      mode: z
        .enum(['reuse', 'new'])
        .default('reuse')
        .describe('reuse: the newest open topic of that name, if there is one; new: another one in any case.'),
    }),
    output: topicShape,
    effect: 'write',
    async run({ name, metadata, mode }, context) {
      return toTopicShape(
        await createTopic(hub, context.caller, await projectOf(hub, context), { name, metadata, mode }),
      )
    },
  })

  const list = tool({
    name: 'topic_list',
    title: 'List topics',
    description: 'List topics, the newest first.',
    cluster: 'topics',
    input: z.strictObject({
      status: z.enum(['open', 'closed', 'all']).default('open').describe('Which topics.'),
      limit: z.int().min(1).max(limits.listed).default(200).describe('The most topics to list.'),
      before: clientId.optional().describe('The next_before of the answer before, to go on.'),
    }),
    output: z.object({
      topics: z.array(topicDetailShape),
      count: z.number(),
      has_more: z.boolean(),
      next_before: z.string().optional(),
    }),
    effect: 'read',
    async run({ status, limit, before }, context) {
      const { topics, hasMore } = await listTopics(hub, context.caller, await projectOf(hub, context), {
        status,
        limit,
        before,
      })
      return {
        topics: topics.map(toTopicDetail),
        count: topics.length,
        has_more: hasMore,
        ...(hasMore && { next_before: topics.at(-1)?.uid }),
      }
    },
  })

  const resolve = tool({
    name: 'topic_resolve',
    title: 'Find a topic by name',
    description: 'Find the newest open topic of a name.',
    cluster: 'topics',
    input: z.strictObject({
      name: title.describe('The name of the topic.'),
      allow_closed: z.boolean().default(false).describe('Also a closed topic, if none is open.'),
    }),
    output: topicShape,
    effect: 'read',
    async run({ name, allow_closed }, context) {
      return toTopicShape(
        await resolveTopic(hub, context.caller, await projectOf(hub, context), { name, allowClosed: allow_closed }),
      )
    },
  })

  const close = tool({
    name: 'topic_close',
    title: 'Close a topic',
    description: 'Close a topic: it can still be read, but not written to. Peers that wait on it return at once.',
    cluster: 'topics',
    input: z.strictObject({
      topic_id: topicId,
      reason: reason.optional().describe('The reason, for later readers.'),
    }),
    output: topicDetailShape
      .pick({ topic_id: true, status: true, closed_at: true, close_reason: true })
      .extend({ warnings }),
    effect: 'write',
    idempotent: true,
    async run({ topic_id, reason }, context) {
      const { topic, already } = await closeTopic(hub, context.caller, await projectOf(hub, context), {
        uid: topic_id,
        reason,
      })
      const { status, closed_at, close_reason } = toTopicDetail(topic)
      return { topic_id, status, closed_at, close_reason, ...(already && { warnings: [{ code: 'ALREADY_CLOSED' }] }) }
    },
  })

  const reopen = tool({
    name: 'topic_reopen',
    title: 'Open a topic again',
    description: 'Open a closed topic again.',
    cluster: 'topics',
    input: z.strictObject({ topic_id: topicId }),
    output: topicShape.extend({ warnings }),
    effect: 'write',
    idempotent: true,
    async run({ topic_id }, context) {
      const { topic, already } = await reopenTopic(hub, context.caller, await projectOf(hub, context), topic_id)
      return { ...toTopicShape(topic), ...(already && { warnings: [{ code: 'ALREADY_OPEN' }] }) }
    },
  })

  const joinTopic = tool({
    name: 'topic_join',
    title: 'Join a topic',
    description:
      'Join a topic under your name, by topic_id or by name; do this before sync. Keep reclaim_token: it lets you take your name back from a process that still holds it.',
    cluster: 'topics',
    own: { agent: 'agent_name' },
    input: z.strictObject({
      agent_name: busName.describe('Your name among peers, for example red-squirrel.'),
      topic_id: topicId.optional(),
      name: title.optional().describe('Instead of topic_id: the name of the topic.'),
      allow_closed: z.boolean().default(false).describe('With name: also a closed topic.'),
      reclaim_token: clientId.optional().describe('From an earlier join under this name, to take it over.'),
    }),
    output: topicShape.extend({ agent_name: z.string(), reclaim_token: z.string() }),
    effect: 'write',
    idempotent: true,
    alwaysLoad: true,
    async run({ agent_name, topic_id, name, allow_closed, reclaim_token }, context) {
      const project = await projectOf(hub, context)
      if ((topic_id === undefined) === (name === undefined))
        throw new HubError('INVALID_ARGUMENT', 'Pass exactly one of "topic_id" and "name".', {
          hint: 'topic_list shows both.',
        })
      const topic =
        topic_id === undefined
          ? await resolveTopic(hub, context.caller, project, { name: name ?? '', allowClosed: allow_closed })
          : await needTopic(hub, context.caller, project, topic_id)
      const joined = await join(hub, await holderOf(hub, context), { topic, name: agent_name, token: reclaim_token })
      return { ...toTopicShape(joined.topic), agent_name: joined.name, reclaim_token: joined.reclaimToken }
    },
  })

  const presence = tool({
    name: 'topic_presence',
    title: 'Who is there',
    description: 'List the peers that synced with a topic lately, or wait on it now.',
    cluster: 'topics',
    input: z.strictObject({
      topic_id: topicId,
      window_seconds: z.int().min(1).default(300).describe('How long ago still counts.'),
      limit: z.int().min(1).default(200).describe('The most peers to list.'),
    }),
    output: z.object({
      topic_id: z.string(),
      window_seconds: z.number(),
      limit: z.number(),
      now: z.number(),
      peers: z.array(
        z.object({ agent_name: z.string(), last_seq: z.number(), updated_at: z.number(), age_seconds: z.number() }),
      ),
      count: z.number(),
      ...more,
    }),
    effect: 'read',
    async run({ topic_id, window_seconds, limit }, context) {
      const { now, peers, hasMore } = await listPresent(hub, context.caller, await projectOf(hub, context), {
        uid: topic_id,
        windowMs: window_seconds * 1000,
        limit,
      })
      const shown = peers.map((peer) => peerWords(peer, now, seconds))
      return {
        topic_id,
        window_seconds,
        limit,
        now: seconds(now),
        peers: shown,
        count: shown.length,
        has_more: hasMore,
        ...(hasMore && {
          note:
            shown.length < limits.listed
              ? `Pass a higher limit for more, up to ${limits.listed}.`
              : 'For fewer peers pass a shorter window_seconds.',
        }),
      }
    },
  })

  return [create, list, resolve, close, reopen, joinTopic, presence]
}
