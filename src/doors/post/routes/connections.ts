/** Routes of the post door about connections: asking for one, approving it by its code, and those that wait. */
import { z } from 'zod'
import type { Hub } from '../../../core/hub/hub.ts'
import { approveConnection, listPendingConnections, requestConnection } from '../../../core/requests/connecting.ts'
import { parseAddress } from '../../words/fields.ts'
import { address, code, intro } from '../fields.ts'
import { approvedShape, pendingListShape, requestedShape, toPending } from '../shapes.ts'
import { defineRoute, type Route } from '../table.ts'

const anId = '7c9e6679-7425-50de-944b-e07fc1f90ae7'

export const connectionRoutes = (hub: Hub): Route[] => [
  defineRoute({
    method: 'POST',
    path: '/connections/request',
    name: 'request_connection',
    summary: 'Ask an agent for a connection',
    description:
      'Answers with a verification code for the people behind the two agents: the other agent approves with it. A code is good for CONNECTION_CODE_TTL_SECONDS. At most ten requests of an agent may wait.',
    about: 'Connections',
    input: {
      body: z.object({ target_agent_name: address.describe('The agent to connect with.'), message: intro }),
    },
    output: requestedShape,
    status: 201,
    errors: {
      AGENT_NOT_FOUND: 'Nobody has this name.',
      CONTACT_EXISTS: 'The two are connected, or one of them has asked the other already.',
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
        verification_code: asked.code,
        target_agent_name: asked.other,
        status: 'PENDING',
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
    method: 'GET',
    path: '/connections/pending',
    name: 'list_pending_connections',
    summary: 'List the requests that wait for the answer of this agent',
    description: 'The same list is in the inbox. With CONNECTION_CODE_VISIBLE=false it has no codes.',
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
