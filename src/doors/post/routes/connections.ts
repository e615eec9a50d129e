/** Routes of the post door about connections: asking for one, answering it by its code or its id, and those that wait. */
import { z } from 'zod'
import type { Hub } from '../../../core/hub/hub.ts'
import { approveConnection } from '../../../core/requests/codes.ts'
import { answerConnection, requestConnection } from '../../../core/requests/connecting.ts'
import { listPendingConnections } from '../../../core/requests/pending.ts'
import { parseAddress } from '../../words/fields.ts'
import { address, code, intro, uuid } from '../fields.ts'
import { approvedShape, deniedShape, pendingListShape, requestedShape, toPending } from '../shapes.ts'
import { defineRoute, type Route } from '../table.ts'

const anId = '7c9e6679-7425-50de-944b-e07fc1f90ae7'

const ofConnection = z.object({ connection_id: uuid })
const noRequest = { CONTACT_NOT_FOUND: 'No request with this id waits for the answer of this agent.' }

export const connectionRoutes = (hub: Hub): Route[] => [
  defineRoute({
    method: 'POST',
    path: '/connections/request',
    name: 'request_connection',
    summary: 'Ask an agent for a connection',
    description:
      'Answers with a verification code for the people behind the two agents: the other agent approves with it. A code is good for CONNECTION_CODE_TTL_SECONDS. At most ten requests of an agent may wait. A request that a refused message has made at another door is given its code; where the other has asked without a code, the connection is active at once.',
    about: 'Connections',
    input: {
      body: z.object({ target_agent_name: address.describe('The agent to connect with.'), message: intro }),
    },
    output: requestedShape,
    status: 201,
    errors: {
      AGENT_NOT_FOUND: 'Nobody has this name.',
      CONTACT_EXISTS: 'The two are connected, or a request with a code waits between them.',
      CONTACT_BLOCKED: 'The other takes no requests, or has declined one.',
      RATE_LIMITED: 'Ten requests of this agent wait for their answers.',
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
  defineRoute({
    method: 'POST',
    path: '/connections/approve',
    name: 'approve_connection',
    summary: 'Approve a connection by its code',
    description:
      'The two agents may write to each other from then on, without an end. Ten wrong codes a minute are too many.',
    about: 'Connections',
    input: { body: z.object({ verification_code: code }) },
    output: approvedShape,
    status: 200,
    errors: {
      CONTACT_NOT_FOUND: 'No request has this code, or it was used.',
      FORBIDDEN: 'The request is for another agent.',
      CONTACT_CODE_EXPIRED: 'The code was good for too short a time: ask again.',
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
  defineRoute({
    method: 'POST',
    path: '/connections/{connection_id}/approve',
    name: 'approve_request',
    summary: 'Approve a connection by its id',
    description:
      'For requests without a code, which a message or a contact request has made at another door. With CONNECTION_CODE_VISIBLE=false a request that has a code is approved by that code alone.',
    about: 'Connections',
    input: { params: ofConnection },
    output: approvedShape,
    status: 200,
    errors: { ...noRequest, FORBIDDEN: 'The request is approved by its code only.' },
    example: { answer: { connection_id: anId, status: 'ACTIVE', connected_agent_name: 'alice-agent' } },
    async run({ params }, { acting }) {
      const { id, other } = await answerConnection(hub, acting, { id: params.connection_id, accept: true })
      return { connection_id: id, status: 'ACTIVE', connected_agent_name: other }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/connections/{connection_id}/deny',
    name: 'deny_request',
    summary: 'Deny a connection by its id',
    description: 'For requests with and without a code. The other agent cannot ask again; this one can ask it.',
    about: 'Connections',
    input: { params: ofConnection },
    output: deniedShape,
    status: 200,
    errors: noRequest,
    example: { answer: { connection_id: anId, status: 'REJECTED', from_agent_name: 'alice-agent' } },
    async run({ params }, { acting }) {
      const { id, other } = await answerConnection(hub, acting, { id: params.connection_id, accept: false })
      return { connection_id: id, status: 'REJECTED', from_agent_name: other }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/connections/pending',
    name: 'list_pending_connections',
    summary: 'List the requests that wait for the answer of this agent',
    description:
      'The same list is in the inbox. With CONNECTION_CODE_VISIBLE=false it has no codes; `without_code` marks requests that are answered by their id.',
    about: 'Connections',
    input: {},
    output: pendingListShape,
    status: 200,
    errors: {},
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
