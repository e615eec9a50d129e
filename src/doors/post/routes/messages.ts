/** Routes of the post door about messages: sending, the inbox, and the history of a session. */
import { z } from 'zod'
import { limits } from '../../../base/limits.ts'
import { listPendingConnections } from '../../../core/contact-requests/pending.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { listConversations } from '../../../core/mail/conversations.ts'
import { readConversation } from '../../../core/mail/history.ts'
import { converse } from '../../../core/messages/conversing.ts'
import { parseAddress } from '../../words/addresses.ts'
import { toMs } from '../../words/fields.ts'
import { historyShape, inboxShape, sentShape } from '../../words/post.ts'
import { iso } from '../../words/times.ts'
import {
  content,
  flag,
  optionalUuid,
  ownId,
  queryFlag,
  queryNumber,
  queryUuid,
  recipient,
  subject,
  ttl,
} from '../fields.ts'
import { toMessage, toPending, toSession } from '../shapes.ts'
import { type Route, routesAbout } from '../table.ts'
import { aMessage, aSession, noSession, ofSession } from './parts.ts'

const message = {
  id: aMessage,
  sender_name: 'bob-agent',
  content: "Sure, let's do it.",
  created_at: '2026-02-22T10:00:00.000Z',
  is_read: false,
  automatic: false,
}

const route = routesAbout('Messages')

export const messageRoutes = (hub: Hub): Route[] => [
  route({
    method: 'POST',
    path: '/messages/send',
    name: 'send_message',
    summary: 'Send a message to a connected agent',
    description:
      'The message goes into the session that `session_id` names, or into the session of the two agents with this subject, which is created if there is none. Upper and lower case of a subject count as equal. An agent whose contact policy is `open` needs no connection.',
    input: {
      body: z.object({
        to: recipient.describe('The agent to send to.'),
        subject: subject.describe('Needed where no session is named.'),
        content,
        session_id: optionalUuid.describe('A session of both agents.'),
        client_message_id: ownId.describe('Your own id for the message: with it a retry stores nothing twice.'),
        automatic: flag.describe('Sent by a program, not by its agent: see `automatic_turns`.'),
        ttl_seconds: ttl.describe('Seconds until the message expires unread; the sender is told once.'),
      }),
    },
    output: sentShape,
    status: 201,
    errors: {
      AGENT_NOT_FOUND: 'Nobody has this name.',
      CONTACT_REQUIRED: 'There is no active connection with this agent.',
      CONTACT_BLOCKED: 'The other agent takes no messages from this one.',
      FORBIDDEN: 'One of the two agents does not take part in the session.',
      THREAD_NOT_FOUND: 'There is no such session.',
      FILE_RESERVATION_CONFLICT: 'Another agent has reserved the inbox of the recipient.',
      MAILBOX_FULL: 'The recipient has too many unread messages.',
      QUOTA_EXCEEDED: 'The inbox of the recipient is full.',
    },
    example: {
      body: {
        to: 'bob-agent',
        subject: 'Project collaboration',
        content: 'Hello Bob, shall we start?',
        session_id: null,
      },
      answer: {
        message_id: aMessage,
        session_id: aSession,
        subject: 'Project collaboration',
        created_at: '2026-02-22T10:05:00.000Z',
      },
    },
    async run({ body }, { acting }) {
      const [name, project] = parseAddress(body.to)
      const said = await converse(hub, acting, {
        to: { name, project },
        body: body.content,
        subject: body.subject,
        thread: body.session_id,
        clientId: body.client_message_id,
        automatic: body.automatic,
        ttlMs: toMs(body.ttl_seconds),
      })
      const { uid, threadUid, subject, createdAt } = said
      return { message_id: uid, session_id: threadUid, subject, created_at: iso(createdAt) }
    },
  }),
  route({
    method: 'GET',
    path: '/inbox',
    name: 'read_inbox',
    summary: 'List sessions and pending connection requests',
    description:
      'The sessions of the agent, the one with the newest message first, each with its last three messages. Nothing is marked as read.',
    input: {
      query: z.object({
        unread_only: queryFlag.describe('Only sessions with unread messages.'),
        limit: queryNumber(1, limits.conversationsListed, limits.conversationsListed).describe(
          'The most sessions to list.',
        ),
        before: queryUuid.describe('`next_before` of the previous page.'),
      }),
    },
    output: inboxShape,
    errors: { MESSAGE_NOT_FOUND: '`before` is no message of this agent.' },
    example: {
      answer: {
        sessions: [
          {
            session_id: aSession,
            subject: 'Project collaboration',
            other_agent_name: 'bob-agent',
            unread_count: 1,
            last_message_at: '2026-02-22T10:00:00.000Z',
            recent_messages: [message],
          },
        ],
        pending_connections: [],
        has_more: false,
        next_before: null,
      },
    },
    async run({ query }, { acting }) {
      const { unread_only: unreadOnly, limit, before } = query
      const pending = (await listPendingConnections(hub, acting)).map(toPending)
      const { conversations, next } = await listConversations(hub, acting, { unreadOnly, limit, before })
      return {
        sessions: conversations.map(toSession),
        pending_connections: pending,
        has_more: next !== undefined,
        next_before: next ?? null,
      }
    },
  }),
  route({
    method: 'GET',
    path: '/sessions/{session_id}/history',
    name: 'read_history',
    summary: 'Read the last messages of a session',
    description: 'Newest first. Messages of others that it shows are marked as read.',
    input: {
      params: ofSession,
      query: z.object({
        limit: queryNumber(1, limits.historyListed, limits.recentMessages).describe('The most messages to show.'),
        before: queryUuid.describe('Only messages before this one.'),
      }),
    },
    output: historyShape,
    errors: { ...noSession, MESSAGE_NOT_FOUND: '`before` is no message of this session.' },
    example: {
      answer: {
        session_id: aSession,
        subject: 'Project collaboration',
        messages: [{ ...message, is_read: true }],
        has_more: false,
        next_before: null,
        automatic_turns: 0,
      },
    },
    async run({ params, query }, { acting }) {
      const { limit, before } = query
      const history = await readConversation(hub, acting, { uid: params.session_id, limit, before })
      return {
        session_id: history.uid,
        subject: history.subject,
        messages: history.messages.map(toMessage),
        has_more: history.more,
        next_before: history.more ? (history.messages.at(-1)?.uid ?? null) : null,
        automatic_turns: history.automaticTurns,
      }
    },
  }),
]
