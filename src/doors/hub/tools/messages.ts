/** Tools of the hub that write: a message, a question, a broadcast. */
import { z } from 'zod'
import { HubError } from '../../../base/errors.ts'
import { limits, sizeInWords } from '../../../base/limits.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { withReach } from '../../../core/presence/reach.ts'
import { awaitReplies, markReplies, type Written, write, writeAndAwait } from '../../../core/threads/writing.ts'
import { type CallContext, defineTool } from '../../mcp/table.ts'
import { body, clientId, groupedAddress, id, threadKey, toMs, ttlSeconds, waitSeconds } from '../../words/fields.ts'
import { addressOf, links, patienceOf, withLinks } from '../fields.ts'
import { type HubScope, hubCallerOf } from '../scope.ts'
import { askShape, broadcastShape, sentShape, toAnswer, toReply, toSent } from '../shapes.ts'

const tool = defineTool<HubScope>()

const recipient = groupedAddress.describe(
  'The agent, made if it is new; Name@project in another project; role:NAME, any:NAME (one of them) or all:project for a group.',
)
const text = body.describe(`The message; up to ${sizeInWords(limits.bodyBytes)}.`)
const thread = threadKey.optional().describe('A thread you take part in; left out or "new" begins one.')
const existing = (key: string | undefined) => (key === 'new' ? undefined : key)

/** A task that runs again after a restart sends nothing twice. */
const onceOf = ({ task }: CallContext<HubScope>): string | undefined => task && `task:${task.id}`

/** The replies in the result of a task are read once it is handed out. */
const markGiven = async (
  hub: Hub,
  context: CallContext<HubScope>,
  replies: readonly ({ readonly message_id: number } | null | undefined)[],
): Promise<void> => {
  const ids = replies.flatMap((reply) => reply?.message_id ?? [])
  context.ifLost(await markReplies(hub, hubCallerOf(context), ids))
}

export const messageTools = (hub: Hub) => [
  tool({
    name: 'apm2.message.send',
    title: 'Send a message to an agent',
    description:
      'Send a message to an agent, in a new thread or one you take part in. Returns the id of the message and of its thread. With await_reply_seconds the call also waits for the first reply. A retry with the same client_message_id stores nothing twice.',
    cluster: 'messaging',
    input: z.strictObject({
      to: recipient,
      text,
      thread,
      reply_to: id.optional().describe('The message_id that this answers.'),
      attachments: links
        .optional()
        .describe('URIs (https, http, apm2, resource) of things that go along, as links; no content.'),
      if_seen_through: id
        .optional()
        .describe('Refused (CROSSED) if the thread has a newer message to you than this message_id.'),
      client_message_id: clientId.optional().describe('Your own id for the message.'),
      await_reply_seconds: waitSeconds.optional().describe('How long to wait for a reply.'),
      ttl_seconds: ttlSeconds.optional().describe('Seconds until the message expires unread; you are told.'),
    }),
    accept: withLinks,
    output: sentShape,
    effect: 'write',
    alwaysLoad: true,
    task: ({ await_reply_seconds }) => await_reply_seconds !== undefined,
    handOut: ({ reply }, context) => markGiven(hub, context, [reply]),
    async run(input, context) {
      const hubCaller = hubCallerOf(context)
      const draft = {
        to: [addressOf(input.to)],
        text: input.text,
        thread: existing(input.thread),
        replyTo: input.reply_to,
        links: input.attachments,
        clientId: input.client_message_id ?? onceOf(context),
        seenThrough: input.if_seen_through,
        ttlMs: toMs(input.ttl_seconds),
      }
      const { await_reply_seconds: seconds } = input
      const since = hub.clock.monotonic()
      const told = async (written: Written) =>
        toSent(written, written.sent && (await withReach(hub, hubCaller.caller, written.sent, since)))
      if (seconds === undefined) return told(await write(hub, hubCaller, draft))
      const patience = patienceOf(hub, context, seconds * 1000)
      const { written, answers } = await writeAndAwait(hub, hubCaller, draft, patience)
      context.ifLost(answers.putBack)
      const [reply] = answers.replies
      return { ...(await told(written)), reply: reply === undefined ? null : toReply(reply) }
    },
  }),
  tool({
    name: 'apm2.message.ask',
    title: 'Ask an agent and wait for its reply',
    description:
      'Send a question to an agent and wait for the reply. If reply is null, time was up: call again with the message_id alone to wait on; nothing is sent twice.',
    cluster: 'messaging',
    input: z.strictObject({
      to: recipient.optional(),
      text: text.optional(),
      thread,
      message_id: id.optional().describe('Instead of to and text: a question you asked before.'),
      wait_seconds: waitSeconds.optional().describe('How long to wait; the server may cut it to its own limit.'),
      ttl_seconds: ttlSeconds.optional().describe('Unread for so long, the question expires; you are told.'),
      client_message_id: clientId.optional().describe('Your own id; a retry with it sends nothing twice.'),
    }),
    output: askShape,
    effect: 'write',
    alwaysLoad: true,
    task: () => true,
    handOut: ({ reply }, context) => markGiven(hub, context, [reply]),
    async run({ to, text, thread, message_id, wait_seconds, ttl_seconds, client_message_id }, context) {
      const hubCaller = hubCallerOf(context)
      const patience = patienceOf(hub, context, wait_seconds === undefined ? hub.limits.waitMs : wait_seconds * 1000)
      if (message_id !== undefined && to === undefined && text === undefined && thread === undefined) {
        const answers = await awaitReplies(hub, hubCaller, message_id, patience)
        context.ifLost(answers.putBack)
        return toAnswer(answers)
      }
      if (message_id !== undefined || to === undefined || text === undefined)
        throw new HubError('INVALID_ARGUMENT', 'A question needs "to" and "text", or a "message_id" alone.', {
          hint: 'Pass to and text to ask; pass the message_id of a question you asked before to wait on.',
        })
      const addressed = {
        to: [addressOf(to)],
        thread: existing(thread),
        clientId: client_message_id ?? onceOf(context),
      }
      const draft = { ...addressed, text, ttlMs: toMs(ttl_seconds) }
      const { answers } = await writeAndAwait(hub, hubCaller, draft, patience)
      context.ifLost(answers.putBack)
      return toAnswer(answers)
    },
  }),
  tool({
    name: 'apm2.message.broadcast',
    title: 'Send a message to several agents',
    description:
      'Send one message to several agents, in a new thread, and gather the first reply of each. With wait_seconds the call waits until all have answered or time is up, without it the call answers at once; missing names the agents that have not answered. You yourself are left out.',
    cluster: 'messaging',
    input: z.strictObject({
      to: z.array(groupedAddress).min(1).max(limits.inboxListed).describe('The agents.'),
      text,
      wait_seconds: waitSeconds.default(0).describe('How long to wait for replies; the server may cut it.'),
      client_message_id: clientId.optional().describe('Your own id; a retry with it sends nothing twice.'),
    }),
    output: broadcastShape,
    effect: 'write',
    task: ({ wait_seconds }) => wait_seconds > 0,
    handOut: ({ replies }, context) => markGiven(hub, context, replies),
    async run({ to, text, wait_seconds, client_message_id }, context) {
      const draft = { to: to.map(addressOf), toOthers: true, text, clientId: client_message_id ?? onceOf(context) }
      const patience = patienceOf(hub, context, wait_seconds * 1000)
      const { written, answers } = await writeAndAwait(hub, hubCallerOf(context), draft, patience)
      context.ifLost(answers.putBack)
      const { deliveries = [], blocked = [], home = '' } = written.sent ?? {}
      const called = (name: string, project: string) => (project === home ? name : `${name}@${project}`)
      return {
        thread: written.thread,
        message_id: written.messageId,
        sent: deliveries.length,
        replies: answers.replies.map(toReply),
        missing: [...answers.missing],
        blocked: blocked.map(({ recipient, project, code, hint = '' }) => ({
          recipient: called(recipient.agent.name, project),
          code,
          hint,
        })),
      }
    },
  }),
]
