/** Routes of the post door for clients that handle each message: unread messages, claims, receipts, and the other agent of a session. */
import { z } from 'zod'
import { limits } from '../../../base/limits.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { claimMessage, keepSessionKey, markReadCalled } from '../../../core/mail/claims.ts'
import { listUnread, needCounterpart } from '../../../core/mail/unread.ts'
import { claimForBridge } from '../../../core/presence/bridging.ts'
import { claimedShape, counterpartShape, keptShape, readShape, unreadShape } from '../../words/post.ts'
import { bridge, ownId, queryNumber, queryUuid, sessionKey, uuid } from '../fields.ts'
import { toUnread } from '../shapes.ts'
import { type Route, routesAbout } from '../table.ts'
import { aMessage, aSession, noSession, ofSession } from './parts.ts'

const ofMessage = z.object({ message_id: uuid })
const noMessage = { MESSAGE_NOT_FOUND: 'The agent has no such message.' }

const route = routesAbout('Messages')

export const clientRoutes = (hub: Hub): Route[] => [
  route({
    method: 'GET',
    path: '/messages/unread',
    name: 'list_unread',
    summary: 'List the unread messages of all sessions',
    description: 'For clients that claim and handle each message: full texts, oldest first. Nothing is marked as read.',
    input: {
      query: z.object({
        limit: queryNumber(1, limits.historyListed, limits.historyListed).describe('The most messages to show.'),
        after: queryUuid.describe('Only messages after this one: the last of the previous page.'),
      }),
    },
    output: unreadShape,
    errors: { MESSAGE_NOT_FOUND: '`after` is not a message to this agent.' },
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
        next_after: null,
      },
    },
    async run({ query }, { acting }) {
      const { messages, more } = await listUnread(hub, acting, query)
      const unread = messages.map(toUnread)
      return { messages: unread, has_more: more, next_after: more ? (unread.at(-1)?.message_id ?? null) : null }
    },
  }),
  route({
    method: 'GET',
    path: '/sessions/{session_id}',
    name: 'describe_session',
    summary: 'Show the other agent of a session',
    description: 'The subject, and the other agent: of several, the one that wrote last. Nothing is marked as read.',
    input: { params: ofSession },
    output: counterpartShape,
    errors: noSession,
    example: {
      answer: { session_id: aSession, subject: 'Project collaboration', other_agent_name: 'bob-agent' },
    },
    async run({ params }, { acting }) {
      const { uid, subject, other } = await needCounterpart(hub, acting, params.session_id)
      return { session_id: uid, subject, other_agent_name: other }
    },
  }),
  route({
    method: 'PUT',
    path: '/sessions/{session_id}/key',
    name: 'keep_session_key',
    summary: 'Store the name of your own session for this session',
    description: 'For bridges: each claim of a message of this session returns the name.',
    input: { params: ofSession, body: z.object({ session_key: sessionKey }) },
    output: keptShape,
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
  route({
    method: 'POST',
    path: '/messages/{message_id}/claim',
    name: 'claim_message',
    summary: 'Claim an unread message, so that only one client handles it',
    description:
      'For several clients with one key. Other clients cannot claim the message meanwhile. A claim expires after 120 s unless the message is read by then.',
    input: {
      params: ofMessage,
      body: z.object({
        client: ownId.describe('The name of the client, which may repeat its own claim.'),
        via: bridge.describe('The bridge that hands the message to the agent: the claim counts as the announcement.'),
      }),
    },
    bodyOptional: true,
    output: claimedShape,
    errors: {
      ...noMessage,
      MESSAGE_CLAIMED: 'The message is read, another client has claimed it, or another session was told of it.',
    },
    example: {
      answer: { message_id: aMessage, claimed: true, session_key: 'agent:main:main', automatic_turns: 0 },
    },
    async run({ params: { message_id }, body: { client, via } }, { acting }) {
      const claim = { uid: message_id, client }
      const { sessionKey, automaticTurns } =
        via === undefined
          ? await claimMessage(hub, acting, claim)
          : await claimForBridge(hub, acting, { ...claim, via })
      return { message_id, claimed: true, session_key: sessionKey ?? null, automatic_turns: automaticTurns }
    },
  }),
  route({
    method: 'POST',
    path: '/messages/{message_id}/read',
    name: 'mark_message_read',
    summary: 'Mark a message as read',
    description: 'May be repeated: the first receipt counts.',
    input: { params: ofMessage },
    output: readShape,
    errors: noMessage,
    example: { answer: { message_id: aMessage, is_read: true } },
    async run({ params: { message_id } }, { acting }) {
      await markReadCalled(hub, acting, message_id)
      return { message_id, is_read: true }
    },
  }),
]
