/** Routes of the post door for clients that take care of each message: what is unread, claims and receipts, and whom a session is held with. */
import { z } from 'zod'
import { limits } from '../../../base/limits.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { claimMessage, keepSessionKey, markReadCalled } from '../../../core/mail/claims.ts'
import { listUnread, needCounterpart } from '../../../core/mail/unread.ts'
import { ownId, queryNumber, queryUuid, sessionKey, uuid } from '../fields.ts'
import { claimedShape, counterpartShape, keptShape, readShape, toUnread, unreadShape } from '../shapes.ts'
import { defineRoute, type Route } from '../table.ts'
import { aMessage, aSession, noSession, ofSession } from './parts.ts'

const ofMessage = z.object({ message_id: uuid })
const noMessage = { MESSAGE_NOT_FOUND: 'The agent was sent no such message.' }

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
    input: { params: ofSession },
    output: counterpartShape,
    status: 200,
    errors: noSession,
    example: {
      answer: { session_id: aSession, subject: 'Project collaboration', other_agent_name: 'bob-agent' },
    },
    async run({ params }, { acting }) {
      const { uid, subject, other } = await needCounterpart(hub, acting, params.session_id)
      return { session_id: uid, subject, other_agent_name: other }
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/sessions/{session_id}/key',
    name: 'keep_session_key',
    summary: 'Keep the session of your own program that belongs to this session',
    description: 'For bridges: the name comes back with each claim of a message of this session.',
    about: 'Messages',
    input: { params: ofSession, body: z.object({ session_key: sessionKey }) },
    output: keptShape,
    status: 200,
    errors: noSession,
    example: {
      body: { session_key: 'agent:main:main' },
      answer: { session_id: aSession, session_key: 'agent:main:main' },
    },
    async run({ params: { session_id }, body: { session_key } }, { acting }) {
      await keepSessionKey(hub, acting, { uid: session_id, sessionKey: session_key })
      return { session_id, session_key }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/messages/{message_id}/claim',
    name: 'claim_message',
    summary: 'Claim an unread message, so that one client alone takes care of it',
    description:
      'For several clients with one key. A claim lapses after 120 s unless the message is read by then; meanwhile nobody else is given the message.',
    about: 'Messages',
    input: {
      params: ofMessage,
      body: z.object({ client: ownId.describe('The name of the client: with it a claim can be repeated.') }),
    },
    bodyOptional: true,
    output: claimedShape,
    status: 200,
    errors: { ...noMessage, MESSAGE_CLAIMED: 'It is read, or another client has it.' },
    example: {
      answer: { message_id: aMessage, claimed: true, session_key: 'agent:main:main', automatic_turns: 0 },
    },
    async run({ params: { message_id }, body: { client } }, { acting }) {
      const { sessionKey, automaticTurns } = await claimMessage(hub, acting, { uid: message_id, client })
      return { message_id, claimed: true, session_key: sessionKey ?? null, automatic_turns: automaticTurns }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/messages/{message_id}/read',
    name: 'mark_message_read',
    summary: 'Mark a message as read',
    description: 'May be repeated: the first time stands.',
    about: 'Messages',
    input: { params: ofMessage },
    output: readShape,
    status: 200,
    errors: noMessage,
    example: { answer: { message_id: aMessage, is_read: true } },
    async run({ params: { message_id } }, { acting }) {
      await markReadCalled(hub, acting, message_id)
      return { message_id, is_read: true }
    },
  }),
]
