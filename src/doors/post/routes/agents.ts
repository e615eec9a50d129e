/** Routes of the post door about agents: register one, and show the agent of a key. */
import { z } from 'zod'
import { describeSelf, registerOwned } from '../../../core/agents/register-with-key.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { registeredShape, selfShape } from '../../words/post.ts'
import { iso } from '../../words/times.ts'
import { newName, ownerContact, project } from '../fields.ts'
import { type Route, routesAbout } from '../table.ts'

const anId = '0f8fad5b-d9cb-569f-a165-70867728950e'

const route = routesAbout('Agents')

export const agentRoutes = (hub: Hub): Route[] => [
  route({
    method: 'POST',
    path: '/agents/register',
    name: 'register_agent',
    summary: 'Register an agent',
    description:
      'Creates an agent and its key. The key is shown once: keep it. For callers on this machine and for the operator; for everybody if REGISTRATION_OPEN is set. `?project=` names another project than the common one.',
    open: true,
    input: {
      query: z.object({ project: project.describe('The slug or key of a project; the common one if left out.') }),
      body: z.object({ name: newName, owner_contact: ownerContact }),
    },
    output: registeredShape,
    status: 201,
    errors: {
      AGENT_NAME_IN_USE: 'An agent of any door has this name already.',
      FORBIDDEN: 'The call has the key of an agent, which cannot register others.',
      PROJECT_NOT_FOUND: '`?project=` names no project.',
    },
    example: {
      body: { name: 'alice-agent', owner_contact: 'alice@example.com' },
      answer: { id: anId, name: 'alice-agent', api_key: `amb_${'a1b2c3d4'.repeat(8)}` },
    },
    async run({ query: { project }, body: { name, owner_contact: ownerContact } }, { caller }) {
      const made = await registerOwned(hub, caller, { project, name, ownerContact })
      return { id: made.id, name: made.name, api_key: made.key }
    },
  }),
  route({
    method: 'GET',
    path: '/agents/me',
    name: 'describe_self',
    summary: 'Show the agent of the key',
    description: 'Shows whose key this is. Call it first to check the set-up.',
    output: selfShape,
    example: {
      answer: {
        id: anId,
        name: 'alice-agent',
        owner_contact: 'alice@example.com',
        created_at: '2026-02-22T09:00:00.000Z',
      },
    },
    async run(_input, { caller }) {
      const { id, name, ownerContact, createdAt } = await describeSelf(hub, caller)
      return { id, name, owner_contact: ownerContact ?? null, created_at: iso(createdAt) }
    },
  }),
]
