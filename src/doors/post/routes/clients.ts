/** Routes of the post door for clients that take care of each message: what is unread, and whom a session is held with. */
import { z } from 'zod'
import { limits } from '../../../base/limits.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { listUnread, needCounterpart, type UnreadLetter } from '../../../core/mail/unread.ts'
import { iso } from '../../words/times.ts'
import { queryNumber, queryUuid, uuid } from '../fields.ts'
import { defineRoute, type Route } from '../table.ts'

const aSession = '019c8a52-1f00-7000-8000-0242ac120002'
const aMessage = '019c8a52-2a10-7000-8000-0242ac120003'

const id = z.string().meta({ format: 'uuid' })

const unreadShape = z.object({
  messages: z
    .array(
      z.object({
        message_id: id,
        session_id: id,
        subject: z.string(),
        from_agent: z.string(),
        content: z.string(),
        created_at: z.string().meta({ format: 'date-time' }),
        automatic: z.boolean(),
      }),
    )
    .describe('Oldest first.'),
  has_more: z.boolean(),
})

const toUnread = ({ uid, thread, subject, from, body, createdAt, automatic }: UnreadLetter) => ({
  ...{ message_id: uid, session_id: thread, subject, from_agent: from, content: body },
  ...{ created_at: iso(createdAt), automatic },
})

const sessionShape = z.object({ session_id: id, subject: z.string(), other_agent_name: z.string() })

export const clientRoutes = (hub: Hub): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/messages/unread',
    name: 'list_unread',
    summary: 'List the unread messages of all sessions',
    description: 'For clients that claim and handle each message: whole, the oldest first. Nothing is marked as read.',
    about: 'Messages',
    input: {
      query: z.object({
        limit: queryNumber(1, limits.historyListed, limits.historyListed).describe('Most messages to show.'),
        after: queryUuid.describe('Only messages that came after this one: the last of the page before.'),
      }),
    },
    output: unreadShape,
    status: 200,
    errors: { MESSAGE_NOT_FOUND: '`after` is no message that this agent was sent.' },
    example: {
      answer: {
        messages: [
          {
            message_id: aMessage,
            session_id: aSession,
            subject: 'Project collaboration',
            from_agent: 'alice-agent',
            content: 'Hello Bob!',
            created_at: '2026-02-22T10:05:00.000Z',
            automatic: false,
          },
        ],
        has_more: false,
      },
    },
    async run({ query }, { acting }) {
      const { letters, more } = await listUnread(hub, acting, query)
      return { messages: letters.map(toUnread), has_more: more }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/sessions/{session_id}',
    name: 'describe_session',
    summary: 'See whom a session is held with',
    description:
      'Its subject, and the other agent: whoever wrote last, where there are several. Nothing is marked as read.',
    about: 'Messages',
    input: { params: z.object({ session_id: uuid }) },
    output: sessionShape,
    status: 200,
    errors: { THREAD_NOT_FOUND: 'There is no such session.', FORBIDDEN: 'The session is that of others.' },
    example: {
      answer: { session_id: aSession, subject: 'Project collaboration', other_agent_name: 'bob-agent' },
    },
    async run({ params }, { acting }) {
      const { uid, subject, other } = await needCounterpart(hub, acting, params.session_id)
      return { session_id: uid, subject, other_agent_name: other }
    },
  }),
]
