/** The macros: whole steps of work in one call, made of the same verbs as the tools they bundle. */
import { z } from 'zod'
import { modelPattern } from '../../../base/llm.ts'
import { requestContact, respondContact } from '../../../core/contact-requests.ts'
import type { Hub } from '../../../core/hub.ts'
import { listInbox } from '../../../core/inbox.ts'
import { type Reserving, readPatterns, release, reserve } from '../../../core/leases.ts'
import { send } from '../../../core/messages.ts'
import { whois } from '../../../core/profiles.ts'
import { findProjectCalled, needProject } from '../../../core/projects.ts'
import { register } from '../../../core/registration.ts'
import { summarizeThread } from '../../../core/summaries.ts'
import { body, text, title } from '../../fields.ts'
import { type CallContext, defineTool } from '../../mcp/table.ts'
import { aliases } from '../clusters.ts'
import { linkShape, toLink } from '../contact-shapes.ts'
import { acting, name, projectKey, threadKey, toIso } from '../fields.ts'
import { toConflict, toGranted } from '../lease-shapes.ts'
import {
  introduction,
  model,
  profileShape,
  program,
  projectShape,
  task,
  toProfile,
  toProject,
  toRegistered,
  wish,
} from '../profiles.ts'
import type { MailScope } from '../scope.ts'
import { toReceipt, toReceived } from '../shapes.ts'
import { toSummary } from '../summary-shapes.ts'
import { leaseReason, paths, ttlSeconds } from './leases.ts'
import { inboxLimit } from './messages.ts'

const tool = defineTool<MailScope>()
const cluster = 'macros'
const usualInbox = 10
const list = z.array(z.unknown())
const record = z.looseObject({})
const reserved = z.object({ granted: list, conflicts: list })

export function macroTools(hub: Hub) {
  type Context = CallContext<MailScope>

  const inboxOf = async (context: Context, project: string, agent: string, limit: number, bodies = false) =>
    (await listInbox(hub, acting(context, project, agent), { limit, bodies })).map(toReceived)

  async function reservePaths(
    context: Context,
    { project, agent, ...wanted }: Omit<Reserving, 'onConflict'> & { project: string; agent: string },
  ) {
    const { granted, conflicts } = await reserve(hub, acting(context, project, agent), {
      ...wanted,
      onConflict: 'grant',
    })
    return { granted: granted.map(toGranted), conflicts: conflicts.map(toConflict) }
  }

  const startSession = tool({
    name: 'macro_start_session',
    title: 'Start a session',
    description:
      'Begin work in a project: makes it known, registers you, reserves files if you name some, and shows your inbox. Pass agent_name to be the same agent as before.',
    cluster,
    input: z.strictObject({
      human_key: projectKey.describe('Absolute path of the repository.'),
      program,
      model,
      task_description: task,
      agent_name: wish.describe('Your name from before, if you have one.'),
      file_reservation_paths: paths.optional(),
      file_reservation_reason: leaseReason.default(''),
      file_reservation_ttl_seconds: ttlSeconds.default(3600),
      inbox_limit: inboxLimit.default(usualInbox),
    }),
    output: z.object({ project: projectShape, agent: profileShape, file_reservations: reserved, inbox: list }),
    effect: 'write',
    alwaysLoad: true,
    async run({ human_key: project, agent_name, inbox_limit, ...input }, context) {
      const patterns = input.file_reservation_paths ?? []
      // First what may be wrong, so that nobody is registered for nothing.
      readPatterns((await findProjectCalled(hub, project))?.key ?? project, patterns)
      const agent = toRegistered(
        await register(hub, { ...introduction(context, { project, ...input }), name: agent_name }),
      )
      const file_reservations =
        patterns.length === 0
          ? { granted: [], conflicts: [] }
          : await reservePaths(context, {
              project,
              agent: agent.name,
              patterns,
              exclusive: true,
              reason: input.file_reservation_reason,
              ttlMs: input.file_reservation_ttl_seconds * 1000,
            })
      const inbox = await inboxOf(context, project, agent.name, inbox_limit)
      return { project: toProject(await needProject(hub, project)), agent, file_reservations, inbox }
    },
  })

  const prepareThread = tool({
    name: 'macro_prepare_thread',
    title: 'Prepare for a thread',
    description: 'Join a thread that went on without you: registers you, summarizes the thread, shows your inbox.',
    cluster,
    input: z.strictObject({
      project_key: projectKey,
      thread_id: threadKey,
      program,
      model,
      agent_name: wish,
      task_description: task,
      register_if_missing: z.boolean().default(true),
      include_examples: z.boolean().default(true),
      inbox_limit: inboxLimit.default(usualInbox),
      include_inbox_bodies: z.boolean().default(false),
      llm_mode: z.boolean().default(true),
      llm_model: z.string().regex(modelPattern, 'must be the name of a model').optional(),
    }),
    output: z.object({ project: projectShape, agent: profileShape, thread: record, inbox: list }),
    effect: 'write',
    async run({ project_key: project, thread_id: key, agent_name, ...input }, context) {
      // First what may not be there, so that nobody is registered for nothing.
      const home = await needProject(hub, project)
      const signal = AbortSignal.any([context.signal, context.stopping])
      const refining = { refine: input.llm_mode, model: input.llm_model, signal }
      const thread = toSummary(await summarizeThread(hub, { project, key, ...refining }), input.include_examples)
      const agent = input.register_if_missing
        ? toRegistered(await register(hub, { ...introduction(context, { project, ...input }), name: agent_name }))
        : toProfile(await whois(hub, project, agent_name ?? ''))
      const inbox = await inboxOf(context, project, agent.name, input.inbox_limit, input.include_inbox_bodies)
      return { project: toProject(home), agent, thread, inbox }
    },
  })

  const reservationCycle = tool({
    name: 'macro_file_reservation_cycle',
    title: 'Reserve files for one edit',
    description:
      'Reserve files for a focused edit; with auto_release they are released at once, to look for conflicts only.',
    cluster,
    input: z.strictObject({
      project_key: projectKey,
      agent_name: name,
      paths: paths.min(1),
      ttl_seconds: ttlSeconds.default(3600),
      exclusive: z.boolean().default(true),
      reason: leaseReason.default(''),
      auto_release: z.boolean().default(false),
    }),
    output: z.object({ file_reservations: reserved, released: record.nullable() }),
    effect: 'write',
    async run({ project_key: project, agent_name: agent, paths: patterns, auto_release, ...input }, context) {
      const { exclusive, reason, ttl_seconds } = input
      const wanted = { project, agent, patterns, exclusive, reason, ttlMs: ttl_seconds * 1000 }
      const file_reservations = await reservePaths(context, wanted)
      if (!auto_release) return { file_reservations, released: null }
      const ids = file_reservations.granted.map(({ id }) => id)
      const { released, releasedAt } = await release(hub, acting(context, project, agent), { ids })
      return { file_reservations, released: { released, released_at: toIso(releasedAt) } }
    },
  })

  const contactHandshake = tool({
    name: 'macro_contact_handshake',
    title: 'Make contact',
    description:
      'Ask an agent for contact; with auto_accept answer for it as well, and then send it a welcome if you wrote one.',
    cluster,
    input: z.strictObject({
      project_key: projectKey,
      requester: name.describe('You.'),
      target: name,
      to_project: projectKey.optional().describe('The project of target, if not yours.'),
      reason: text(1000).optional(),
      ttl_seconds: ttlSeconds.optional(),
      auto_accept: z.boolean().default(false),
      welcome_subject: title.optional(),
      welcome_body: body.optional(),
    }),
    accept: (args) => withoutAliases(args, aliases.macro_contact_handshake ?? {}),
    output: z.object({ request: linkShape, response: linkShape.nullable(), welcome_message: record.nullable() }),
    effect: 'write',
    async run({ project_key, requester, target, to_project, ttl_seconds, ...input }, context) {
      const me = acting(context, project_key, requester)
      const ttlMs = ttl_seconds === undefined ? undefined : ttl_seconds * 1000
      const to = { name: target, project: to_project }
      const request = await requestContact(hub, me, { to, reason: input.reason, ttlMs })
      const from = { name: requester, project: to_project === undefined ? undefined : project_key }
      const response = input.auto_accept
        ? await respondContact(hub, acting(context, to_project ?? project_key, target), { from, accept: true, ttlMs })
        : undefined
      const { welcome_subject: subject, welcome_body } = input
      const welcome =
        (response ?? request).status === 'approved' && subject !== undefined && welcome_body !== undefined
          ? await toReceipt(hub, await send(hub, me, { to: [to], subject, body: welcome_body }))
          : null
      return { request: toLink(request), response: response ? toLink(response) : null, welcome_message: welcome }
    },
  })

  return [startSession, prepareThread, reservationCycle, contactHandshake]
}

/** Puts an argument that came by another of its names under the one that is advertised. */
function withoutAliases(
  args: Record<string, unknown>,
  others: Readonly<Record<string, readonly string[]>>,
): Record<string, unknown> {
  const proper = { ...args }
  for (const [argument, names] of Object.entries(others))
    for (const other of names) {
      if (proper[argument] !== undefined || !(other in proper)) continue
      proper[argument] = proper[other]
      delete proper[other]
    }
  return proper
}
