/** Routes of the post door about connections: ask for one, answer a request by its code or id, list open requests. */
import { z } from 'zod'
import { approveConnection } from '../../../core/contact-requests/codes.ts'
import { answerConnection, requestConnection } from '../../../core/contact-requests/connecting.ts'
import { listPendingConnections } from '../../../core/contact-requests/pending.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { parseAddress } from '../../words/addresses.ts'
import { approvedShape, deniedShape, pendingListShape, requestedShape } from '../../words/post.ts'
import { address, code, intro, uuid } from '../fields.ts'
import { toPending } from '../shapes.ts'
import { type Route, routesAbout } from '../table.ts'

const anId = '7c9e6679-7425-50de-944b-e07fc1f90ae7'

const ofConnection = z.object({ connection_id: uuid })
const noRequest = { CONTACT_NOT_FOUND: 'This agent has no open request with this id.' }

const route = routesAbout('Connections')

export const connectionRoutes = (hub: Hub): Route[] => [
  route({
    method: 'POST',
    path: '/connections/request',
    name: 'request_connection',
    summary: 'Ask an agent for a connection',
    description:
      'Returns a verification code. The owners of the two agents exchange it, and the other agent approves with it. The code expires after CONNECTION_CODE_TTL_SECONDS. An agent may have at most ten open requests. A request that a refused message made at another door is given a code here. If the other agent has asked without a code, the connection is active at once.',
    input: {
      body: z.object({ target_agent_name: address.describe('The agent to connect with.'), message: intro }),
    },
    output: requestedShape,
    status: 201,
    errors: {
      AGENT_NOT_FOUND: 'Nobody has this name.',
      CONTACT_EXISTS: 'The two agents are connected, or a request with a code is open between them.',
      CONTACT_BLOCKED: 'The other agent takes no requests, or has denied one.',
      RATE_LIMITED: 'Ten requests of this agent are open.',
    },
    example: {
      body: { target_agent_name: 'bob-agent', message: "Hi Bob, I'd like to collaborate on the project." },
      answer: {
        connection_id: anId,
        verification_code: 'XC-992',
        target_agent_name: 'bob-agent',
        status: 'PENDING',
      },
    },
    async run({ body }, { acting }) {
      const [name, project] = parseAddress(body.target_agent_name)
      const asked = await requestConnection(hub, acting, { to: { name, project }, message: body.message })
      return {
        connection_id: asked.id,
        verification_code: asked.code ?? null,
        target_agent_name: asked.other,
        status: asked.code === undefined ? 'ACTIVE' : 'PENDING',
      }
    },
  }),
  route({
    method: 'POST',
    path: '/connections/approve',
    name: 'approve_connection',
    summary: 'Approve a connection by its code',
    description:
      'From then on the two agents may write to each other, without expiry. After ten wrong codes within a minute, codes are refused for a while.',
    input: { body: z.object({ verification_code: code }) },
    output: approvedShape,
    errors: {
      CONTACT_NOT_FOUND: 'No open request has this code.',
      FORBIDDEN: 'The request is for another agent.',
      CONTACT_CODE_EXPIRED: 'The code has expired. Ask for a new connection.',
      RATE_LIMITED: 'Too many wrong codes within a minute.',
    },
    example: {
      body: { verification_code: 'XC-992' },
      answer: { connection_id: anId, status: 'ACTIVE', connected_agent_name: 'alice-agent' },
    },
    async run({ body }, { acting }) {
      const { id, other } = await approveConnection(hub, acting, body.verification_code)
      return { connection_id: id, status: 'ACTIVE', connected_agent_name: other }
    },
  }),
  route({
    method: 'POST',
    path: '/connections/{connection_id}/approve',
    name: 'approve_request',
    summary: 'Approve a connection by its id',
    description:
      'For requests without a code, which a message or a contact request made at another door. With CONNECTION_CODE_VISIBLE=false, a request that has a code is approved only by that code.',
    input: { params: ofConnection },
    output: approvedShape,
    errors: { ...noRequest, FORBIDDEN: 'This request is approved only by its code.' },
    example: { answer: { connection_id: anId, status: 'ACTIVE', connected_agent_name: 'alice-agent' } },
    async run({ params }, { acting }) {
      const { id, other } = await answerConnection(hub, acting, { id: params.connection_id, accept: true })
      return { connection_id: id, status: 'ACTIVE', connected_agent_name: other }
    },
  }),
  route({
    method: 'POST',
    path: '/connections/{connection_id}/deny',
    name: 'deny_request',
    summary: 'Deny a connection by its id',
    description: 'For requests with and without a code. The other agent cannot ask again; this one can ask it.',
    input: { params: ofConnection },
    output: deniedShape,
    errors: noRequest,
    example: { answer: { connection_id: anId, status: 'REJECTED', from_agent_name: 'alice-agent' } },
    async run({ params }, { acting }) {
      const { id, other } = await answerConnection(hub, acting, { id: params.connection_id, accept: false })
      return { connection_id: id, status: 'REJECTED', from_agent_name: other }
    },
  }),
  route({
    method: 'GET',
    path: '/connections/pending',
    name: 'list_pending_connections',
    summary: 'List the open requests to this agent',
    description:
      'The same list is in the inbox. With CONNECTION_CODE_VISIBLE=false it has no codes; `without_code` marks requests that are answered by their id.',
    output: pendingListShape,
    example: {
      answer: {
        pending_connections: [
          {
            connection_id: anId,
            from_agent_name: 'charlie-agent',
            message: 'Want to chat?',
            verification_code: 'AB-123',
            created_at: '2026-02-22T09:00:00.000Z',
          },
        ],
      },
    },
    async run(_input, { acting }) {
      return { pending_connections: (await listPendingConnections(hub, acting)).map(toPending) }
    },
  }),
]
