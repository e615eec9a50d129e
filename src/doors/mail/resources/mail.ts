/** The resources that show mail: inbox, outbox, mailbox, a message, a thread, and the views of waiting mail. */

import { z } from 'zod'
import { limits } from '../../../base/limits.ts'
import type { Acting } from '../../../core/agents/acting.ts'
import { needHome } from '../../../core/agents/agents.ts'
import { describeCommits, findCommits } from '../../../core/archive/commits.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import {
  type InboxPart,
  listInbox,
  listOutbox,
  type MailPage,
  type Received,
  readsOn,
} from '../../../core/mail/inbox.ts'
import type { MailMessage } from '../../../core/mail/messages.ts'
import { needProject } from '../../../core/projects/projects.ts'
import { readByHash } from '../../../core/threads/attachments.ts'
import { needMessage, readThread } from '../../../core/threads/mail-threads.ts'
import type { CallContext, Resource } from '../../mcp/table.ts'
import { parseAddress } from '../../words/addresses.ts'
import { toContent } from '../../words/attachments.ts'
import { threadKey } from '../../words/fields.ts'
import { limitParameter } from '../../words/parameters.ts'
import { noteTexts, noteTextsToSelf } from '../delivered.ts'
import {
  acting,
  agentParameter,
  ageParameter,
  flagParameter,
  idParameter,
  parseTime,
  placeParameter,
  projectParameter,
  since,
} from '../fields.ts'
import { defineResource } from '../resource.ts'
import type { MailScope } from '../scope.ts'
import { omittedNote, toCommit, toMessage, toReceived, toSent } from '../shapes.ts'

/** Whose mail it is: the caller's, where nobody is named. */
const own = { agent: 'agent', project: 'project' } as const
const limit = limitParameter(20, limits.inboxListed)
const aged = { agent: agentParameter, project: projectParameter.optional(), limit }
const agedObject = z.object(aged)
const ofAgent = { ...aged, before: idParameter.optional() }
const ofAgentObject = z.object(ofAgent)
const withText = { since_ts: since.optional(), include_bodies: flagParameter(false) }

const textual = z.object({ ...ofAgent, ...withText })
const wish = ({ since_ts, include_bodies, before, limit }: z.output<typeof textual>) => ({
  since: since_ts === undefined ? undefined : parseTime(since_ts),
  before,
  bodies: include_bodies,
  limit,
})

/** The way to one body of an outbox or a thread. */
const messageWay = (project: string): string => `Read one by resource://message/{id}?project=${project}.`

export function mailResources(hub: Hub): Resource<MailScope>[] {
  /** The agent whose mail is read, and the frame of every list. An agent with a name that is unique needs no project. */
  async function open(
    context: CallContext<MailScope>,
    { agent, project }: { agent: string; project?: string | undefined },
  ) {
    const [name, home] = parseAddress(agent)
    const key = project ?? home ?? (await needHome(hub, context.caller, name))
    const { slug } = await needProject(hub, context.caller, key)
    return {
      as: acting(context, key, agent),
      slug,
      page<Message extends MailMessage>({ messages, more }: MailPage<Message>, shape: (message: Message) => object) {
        return { project: slug, agent: name, count: messages.length, messages: messages.map(shape), has_more: more }
      },
    }
  }

  /** The next page, of older messages, begins below the last one; of newer ones above the first. In words too, beside those that there are already. */
  function onwards({ messages, more }: MailPage, way: 'before' | 'after', { note: besides }: { note?: string } = {}) {
    const id = (way === 'before' ? messages.at(-1) : messages[0])?.id
    const says = `There are ${way === 'before' ? 'older' : 'newer'} messages: read this resource with ${way}=${id}.`
    const notes = [more ? says : undefined, besides].filter((note) => note !== undefined)
    return { ...(more && { [`next_${way}`]: id }), ...(notes.length > 0 && { note: notes.join(' ') }) }
  }

  const inbox = defineResource({
    uri: 'resource://inbox/{agent}{?project,since_ts,after,urgent_only,include_bodies,limit,before}',
    name: 'inbox',
    description: 'The inbox of an agent, newest first; since_ts and after read on from there.',
    own,
    params: z.object({ ...ofAgent, ...withText, after: placeParameter.optional(), urgent_only: flagParameter(false) }),
    async read(params, context) {
      const { as, page } = await open(context, params)
      const part: InboxPart = params.urgent_only ? 'urgent' : 'all'
      const asked = { part, after: params.after, ...wish(params) }
      const found = await listInbox(hub, as, asked)
      noteTexts(hub, context, as, found.messages)
      const omitted = omittedNote(
        found.messages,
        'Read one with after one below its id, limit=1 and include_bodies=true.',
      )
      return { ...page(found, toReceived), ...onwards(found, readsOn(asked) ? 'after' : 'before', omitted) }
    },
  })

  /** The latest messages of an agent, each with what `commitOf` says of its commit in the archive. */
  async function readMailbox(
    params: z.output<typeof ofAgentObject>,
    context: CallContext<MailScope>,
    commitOf: (as: Acting, messages: readonly Received[]) => Promise<ReadonlyMap<number, unknown>>,
  ) {
    const { as, page } = await open(context, params)
    const found = await listInbox(hub, as, { limit: params.limit, before: params.before })
    const commits = await commitOf(as, found.messages)
    const shape = (one: Received) => ({ ...toReceived(one), commit: commits.get(one.id) ?? null })
    return { ...page(found, shape), ...onwards(found, 'before') }
  }

  const mailbox = defineResource({
    uri: 'resource://mailbox/{agent}{?project,limit,before}',
    name: 'mailbox',
    description: 'The latest messages of an agent, without bodies, with the names of their commits in the archive.',
    own,
    params: ofAgentObject,
    read: (params, context) => readMailbox(params, context, (as, messages) => findCommits(hub, as, messages)),
  })

  const mailboxWithCommits = defineResource({
    uri: 'resource://mailbox-with-commits/{agent}{?project,limit,before}',
    name: 'mailbox-with-commits',
    description: 'The latest messages of an agent, without bodies, with their commits in the archive.',
    own,
    params: ofAgentObject,
    read: (params, context) =>
      readMailbox(params, context, async (as, messages) => {
        const commits = await describeCommits(hub, as, messages)
        return new Map([...commits].map(([id, commit]) => [id, toCommit(commit)]))
      }),
  })

  const outbox = defineResource({
    uri: 'resource://outbox/{agent}{?project,limit,include_bodies,since_ts,before}',
    name: 'outbox',
    description: 'The messages that an agent sent, newest first, with blind copies and receipts.',
    own,
    params: z.object({ ...ofAgent, ...withText }),
    async read(params, context) {
      const { as, slug, page } = await open(context, params)
      const found = await listOutbox(hub, as, wish(params))
      return { ...page(found, toSent), ...onwards(found, 'before', omittedNote(found.messages, messageWay(slug))) }
    },
  })

  const message = defineResource({
    uri: 'resource://message/{id}{?project}',
    name: 'message',
    description: 'One message of a project, with its body.',
    own: { project: 'project' },
    params: z.object({ id: idParameter, project: projectParameter }),
    async read({ id, project }, context) {
      const message = await needMessage(hub, context.caller, project, id)
      await noteTextsToSelf(hub, context, project, [message])
      return toMessage(message)
    },
  })

  const attachment = defineResource({
    uri: 'resource://attachment/{sha1}{?project,offset}',
    name: 'attachment',
    description: 'An attachment of a message, by the sha1 in attachments; a long one in parts, by offset.',
    params: z.object({
      sha1: z
        .string()
        .regex(/^[0-9a-f]{40}$/i, 'must be the sha1 of an attachment, 40 digits of 0-9 and a-f')
        .transform((sha1) => sha1.toLowerCase()),
      project: projectParameter.optional(),
      offset: placeParameter.default(0),
    }),
    read: async ({ offset, ...wish }, { caller }) => toContent(await readByHash(hub, caller, wish), offset),
  })

  const thread = defineResource({
    uri: 'resource://thread/{thread_id}{?project,include_bodies,limit,after}',
    name: 'thread',
    description: 'The messages of a thread, oldest first; also a topic of the bus, by its id.',
    own: { project: 'project' },
    params: z.object({
      thread_id: threadKey,
      project: projectParameter,
      include_bodies: flagParameter(false),
      limit: limitParameter(100, 200),
      after: idParameter.optional(),
    }),
    async read({ thread_id, project, include_bodies, limit, after }, context) {
      const wish = { key: thread_id, after, bodies: include_bodies, limit }
      const page = await readThread(hub, context.caller, project, wish)
      await noteTextsToSelf(hub, context, project, page.messages)
      const messages = page.messages.map(toMessage)
      return {
        project: page.project.slug,
        thread_id,
        count: messages.length,
        messages,
        has_more: page.more,
        ...(page.more && { next_after: messages.at(-1)?.id }),
        ...omittedNote(page.messages, messageWay(page.project.slug)),
      }
    },
  })

  const view = (uri: string, description: string, part: 'urgent-unread' | 'unacked') =>
    defineResource({
      uri: `resource://views/${uri}/{agent}{?project,limit,before}`,
      name: uri,
      description,
      own,
      params: ofAgentObject,
      async read(params, context) {
        const { as, page } = await open(context, params)
        const found = await listInbox(hub, as, { part, limit: params.limit, before: params.before })
        return { ...page(found, toReceived), ...onwards(found, 'before') }
      },
    })

  /** Messages that have waited longer than so many milliseconds, the oldest first. */
  async function overdue(context: CallContext<MailScope>, params: z.output<typeof agedObject>, ms: number) {
    const { as, page } = await open(context, params)
    const until = hub.clock.now() - ms
    const found = await listInbox(hub, as, { part: 'unacked', until, oldestFirst: true, limit: params.limit })
    const note = `Those after them come with a higher limit, up to ${limits.inboxListed}, or once these are acknowledged.`
    return { ...page(found, toReceived), ...(found.more && { note }) }
  }

  const acksStale = defineResource({
    uri: 'resource://views/acks-stale/{agent}{?project,ttl_seconds,limit}',
    name: 'acks-stale',
    description:
      'Messages that wait for an acknowledgement longer than ttl_seconds (ACK_TTL_SECONDS, if left out), the oldest first.',
    own,
    params: z.object({ ...aged, ttl_seconds: ageParameter.optional() }),
    async read(params, context) {
      const { ttl_seconds = hub.rules.overdueMs / 1000 } = params
      return { ...(await overdue(context, params, ttl_seconds * 1000)), ttl_seconds }
    },
  })

  const ackOverdue = defineResource({
    uri: 'resource://views/ack-overdue/{agent}{?project,ttl_minutes,limit}',
    name: 'ack-overdue',
    description:
      'Messages that wait for an acknowledgement longer than ttl_minutes (ACK_TTL_SECONDS, if left out), the oldest first.',
    own,
    params: z.object({ ...aged, ttl_minutes: ageParameter.optional() }),
    async read(params, context) {
      const { ttl_minutes = hub.rules.overdueMs / 60_000 } = params
      return { ...(await overdue(context, params, ttl_minutes * 60_000)), ttl_minutes }
    },
  })

  return [
    inbox,
    mailbox,
    mailboxWithCommits,
    outbox,
    message,
    attachment,
    thread,
    view('urgent-unread', 'Messages of high and urgent importance that are not read yet.', 'urgent-unread'),
    view('ack-required', 'Messages that wait for an acknowledgement.', 'unacked'),
    acksStale,
    ackOverdue,
  ]
}
