/** The tools of the mail door about contacts: asking, answering, listing, and the policy of an agent. */
import { z } from 'zod'
import { limits } from '../../../base/limits.ts'
import { contactPolicies } from '../../../core/agents/agents.ts'
import { requestContact, respondContact } from '../../../core/contact-requests/requests.ts'
import { listContacts, setContactPolicy } from '../../../core/contacts/links.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { defineTool } from '../../mcp/table.ts'
import { id, reason, toMs } from '../../words/fields.ts'
import { listShape } from '../../words/lists.ts'
import { toProfile } from '../../words/profiles.ts'
import { linkShape, toLink } from '../contact-shapes.ts'
import { acting, name, otherAgent, projectKey } from '../fields.ts'
import { profileShape } from '../profiles.ts'
import type { MailScope } from '../scope.ts'

const tool = defineTool<MailScope>()

const cluster = 'contacts'
const ttlSeconds = z.int().min(1).optional()

export function contactTools(hub: Hub) {
  const request = tool({
    name: 'request_contact',
    title: 'Ask an agent for contact',
    description: 'Ask an agent for permission to message it, also in another project. It answers with respond_contact.',
    cluster,
    own: { agent: 'from_agent', project: 'project_key' },
    input: z.strictObject({
      project_key: projectKey,
      from_agent: name.describe('You.'),
      to_agent: name,
      to_project: projectKey.optional().describe('The project of to_agent, if not yours.'),
      reason: reason.optional(),
      ttl_seconds: ttlSeconds.describe('How long the request stands; 7 days if left out.'),
    }),
    output: linkShape,
    effect: 'write',
    idempotent: true,
    async run({ project_key, from_agent, to_agent, to_project, reason, ttl_seconds }, context) {
      const to = otherAgent(to_agent, to_project)
      const asking = { to, reason, ttlMs: toMs(ttl_seconds) }
      return toLink(await requestContact(hub, acting(context, project_key, from_agent), asking))
    },
  })

  const respond = tool({
    name: 'respond_contact',
    title: 'Answer a contact request',
    description:
      'Accept or deny a contact request. Contact holds both ways until it expires, a denial until you accept.',
    cluster,
    own: { agent: 'to_agent', project: 'project_key' },
    input: z.strictObject({
      project_key: projectKey,
      to_agent: name.describe('You.'),
      from_agent: name.describe('The agent that asked.'),
      accept: z.boolean(),
      from_project: projectKey.optional().describe('The project of from_agent, if not yours.'),
      ttl_seconds: ttlSeconds.describe('How long the answer holds; if left out, 7 days, a denial for good.'),
    }),
    output: linkShape,
    effect: 'write',
    idempotent: true,
    async run({ project_key, to_agent, from_agent, accept, from_project, ttl_seconds }, context) {
      const from = otherAgent(from_agent, from_project)
      const answer = { from, accept, ttlMs: toMs(ttl_seconds) }
      return toLink(await respondContact(hub, acting(context, project_key, to_agent), answer))
    },
  })

  const list = tool({
    name: 'list_contacts',
    title: 'List contacts',
    description: 'List your contacts and the requests from and to you: pending, approved, denied or expired.',
    cluster,
    own: { agent: 'agent_name', project: 'project_key' },
    input: z.strictObject({
      project_key: projectKey,
      agent_name: name,
      limit: z.int().min(1).max(limits.listed).default(limits.listed),
      before_id: id.optional().describe('Go on below this contact.'),
    }),
    output: listShape(linkShape).extend({ next_before: z.int().optional() }),
    effect: 'read',
    async run({ project_key, agent_name, limit, before_id: before }, context) {
      const { contacts, more } = await listContacts(hub, acting(context, project_key, agent_name), { before, limit })
      return {
        result: contacts.map(({ direction, ...link }) => ({ ...toLink(link), direction })),
        has_more: more,
        ...(more && { next_before: contacts.at(-1)?.id }),
      }
    },
  })

  const setPolicy = tool({
    name: 'set_contact_policy',
    title: 'Choose who may write to you',
    description:
      'Set who may message you: open (anybody), auto (agents of your project; others ask first), contacts_only (all others ask first), block_all (nobody).',
    cluster,
    own: { agent: 'agent_name', project: 'project_key' },
    input: z.strictObject({ project_key: projectKey, agent_name: name, policy: z.enum(contactPolicies) }),
    output: profileShape,
    effect: 'write',
    idempotent: true,
    async run({ project_key, agent_name, policy }, context) {
      return toProfile(await setContactPolicy(hub, acting(context, project_key, agent_name), policy))
    },
  })

  return [request, respond, list, setPolicy]
}
