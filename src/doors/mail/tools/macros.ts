/** The macros: whole steps of work in one call. */
import { z } from 'zod'
import type { Hub } from '../../../core/hub/hub.ts'
import { reserve } from '../../../core/leases/leases.ts'
import { lookForConflicts, prepareForThread, shakeHands, startWork } from '../../../core/macros/work.ts'
import type { MailPage, Received } from '../../../core/mail/inbox.ts'
import type { ThreadSummary } from '../../../core/threads/summaries.ts'
import { modelPattern } from '../../../llm/llm.ts'
import { defineTool } from '../../mcp/table.ts'
import { body, reason, threadKey, title, toMs } from '../../words/fields.ts'
import { greeting } from '../../words/greeting.ts'
import { toPlaced, toProject } from '../../words/profiles.ts'
import { iso } from '../../words/times.ts'
import { reachIn } from '../calls.ts'
import { aliases } from '../clusters.ts'
import { steps } from '../connection.ts'
import { linkShape, toLink } from '../contact-shapes.ts'
import { noteTexts } from '../delivered.ts'
import { acting, humanKey, name, otherAgent, projectKey } from '../fields.ts'
import { toReserved } from '../lease-shapes.ts'
import {
  introduction,
  model,
  profileShape,
  program,
  projectShape,
  roles,
  task,
  toActive,
  toRegistered,
  wish,
} from '../profiles.ts'
import type { MailScope } from '../scope.ts'
import { budgetOf, goesOn, toReceipt, toReceived } from '../shapes.ts'
import { toNothingSaid, toSummary } from '../summary-shapes.ts'
import { leaseReason, paths, ttlSeconds } from './leases.ts'
import { inboxLimit, maxChars } from './messages.ts'

const tool = defineTool<MailScope>()
const cluster = 'macros'
const usualInbox = 10
/** Characters of the project and the profile in an answer; a task may have 2,000. */
const headLength = 5000
const list = z.array(z.unknown())
const record = z.looseObject({})
const reserved = z.object({ conflicts: list, note: z.string().optional(), granted: list })
const inboxShape = {
  inbox: list,
  inbox_has_more: z.boolean(),
  next_before: z.int().optional(),
  note: z.string().optional(),
}

interface InboxAsked {
  readonly inbox_limit: number
  readonly include_inbox_bodies?: boolean
  readonly max_chars?: number
}

/** Goes on in pages of the size that was asked for; where none was, in those of fetch_inbox. */
const toInbox = (page: MailPage<Received>, { inbox_limit, include_inbox_bodies, max_chars }: InboxAsked) => ({
  inbox: page.messages.map(toReceived),
  inbox_has_more: page.more,
  ...goesOn(page, {
    include_bodies: include_inbox_bodies,
    limit: inbox_limit === usualInbox ? undefined : inbox_limit,
    max_chars,
  }),
})

export function macroTools(hub: Hub) {
  const startSession = tool({
    name: 'macro_start_session',
    title: 'Start a session',
    description:
      'Begin work in a project: creates it if new, registers you, reserves files you name, shows your inbox (without texts) and who else is active. Then use agent.name as your name and human_key as project_key.',
    cluster,
    own: {
      agent: 'agent_name',
      project: 'human_key',
      description:
        'Begin work: registers you, reserves files you name, shows your inbox (without texts) and who else is active.',
    },
    input: z.strictObject({
      human_key: humanKey,
      program,
      model,
      task_description: task,
      agent_name: wish.describe('Your name from before.'),
      roles,
      file_reservation_paths: paths.optional(),
      file_reservation_reason: leaseReason.default(''),
      file_reservation_ttl_seconds: ttlSeconds.default(3600),
      inbox_limit: inboxLimit.default(usualInbox),
    }),
    output: z.object({
      whoami: z.string(),
      project: projectShape,
      agent: profileShape,
      file_reservations: reserved,
      ...inboxShape,
      active_agents: list,
    }),
    effect: 'write',
    alwaysLoad: true,
    async run({ human_key: project, agent_name, inbox_limit, ...input }, context) {
      const newcomer = { ...introduction(context, { project, ...input }), name: agent_name }
      const wanted = {
        patterns: input.file_reservation_paths ?? [],
        exclusive: true,
        reason: input.file_reservation_reason,
        ttlMs: input.file_reservation_ttl_seconds * 1000,
      }
      const started = await startWork(hub, context.caller, { newcomer, wanted, inbox: { limit: inbox_limit } })
      const { name, unread } = started.registered.profile
      return {
        whoami: greeting({ name, project: started.project.key, is: 'there', unread }, steps),
        project: toPlaced(started.project, context.self?.note ?? started.note),
        agent: toRegistered(started.registered, context),
        file_reservations: toReserved(started.reserved),
        ...toInbox(started.inbox, { inbox_limit }),
        active_agents: started.others.map(toActive),
      }
    },
  })

  const prepareThread = tool({
    name: 'macro_prepare_thread',
    title: 'Prepare for a thread',
    description: 'Join a thread that went on without you: registers you, summarizes the thread, shows your inbox.',
    cluster,
    own: { agent: 'agent_name', project: 'project_key' },
    input: z
      .strictObject({
        project_key: projectKey,
        thread_id: threadKey,
        program,
        model,
        agent_name: wish,
        task_description: task,
        register_if_missing: z.boolean().default(true).describe('false: an error if agent_name is unknown.'),
        include_examples: z.boolean().default(true),
        inbox_limit: inboxLimit.default(usualInbox),
        include_inbox_bodies: z.boolean().default(false),
        max_chars: maxChars,
        llm_mode: z.boolean().default(true),
        llm_model: z.string().regex(modelPattern, 'must be the name of a model').optional(),
      })
      .refine(({ register_if_missing, agent_name }) => register_if_missing || agent_name !== undefined, {
        path: ['agent_name'],
        error: 'must name you if register_if_missing is false',
      }),
    output: z.object({ project: projectShape, agent: profileShape, thread: record, ...inboxShape }),
    effect: 'write',
    async run({ project_key: project, thread_id, agent_name, register_if_missing, ...input }, context) {
      const newcomer = { ...introduction(context, { project, ...input }), name: agent_name }
      const signal = AbortSignal.any([context.signal, context.stopping])
      const toThread = (thread: ThreadSummary | undefined) =>
        thread ? toSummary(thread, input.include_examples) : toNothingSaid(thread_id)
      const prepared = await prepareForThread(hub, context.caller, {
        who: register_if_missing || agent_name === undefined ? newcomer : { known: otherAgent(agent_name, project) },
        thread: thread_id,
        refining: { refine: input.llm_mode, model: input.llm_model, signal },
        inbox: (thread) => ({
          limit: input.inbox_limit,
          bodies: input.include_inbox_bodies,
          budget: budgetOf(input.max_chars, JSON.stringify(toThread(thread)).length + headLength),
        }),
      })
      noteTexts(hub, context, acting(context, project, prepared.registered.profile.name), prepared.inbox.messages)
      return {
        project: toProject(prepared.project),
        agent: toRegistered(prepared.registered, context),
        thread: toThread(prepared.thread),
        ...toInbox(prepared.inbox, input),
      }
    },
  })

  const reservationCycle = tool({
    name: 'macro_file_reservation_cycle',
    title: 'Reserve files for one edit',
    description:
      'Reserve files for a focused edit. auto_release only looks for conflicts: new reservations are released at once.',
    cluster,
    own: { agent: 'agent_name', project: 'project_key' },
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
      const me = acting(context, project, agent)
      const wanted = { patterns, exclusive, reason, ttlMs: ttl_seconds * 1000 }
      if (!auto_release) {
        const reserved = await reserve(hub, me, { ...wanted, onConflict: 'grant' })
        return { file_reservations: toReserved(reserved), released: null }
      }
      const { reserved, released } = await lookForConflicts(hub, me, wanted)
      return {
        file_reservations: toReserved(reserved),
        released: { released: released.released, released_at: iso(released.releasedAt) },
      }
    },
  })

  const contactHandshake = tool({
    name: 'macro_contact_handshake',
    title: 'Make contact',
    description:
      'Ask an agent for permission to message it, also in another project. The welcome message is sent once there is contact.',
    cluster,
    own: { agent: 'requester', project: 'project_key' },
    input: z
      .strictObject({
        project_key: projectKey,
        requester: name.describe('You.'),
        target: name,
        to_project: projectKey.optional().describe('The project of target, if not yours.'),
        reason: reason.optional(),
        ttl_seconds: z.int().min(1).optional(),
        auto_accept: z.boolean().default(false).describe('Also accept for target, if its policy allows that.'),
        welcome_subject: title.optional(),
        welcome_body: body.optional(),
      })
      .superRefine(({ welcome_subject, welcome_body }, context) => {
        if ((welcome_subject === undefined) === (welcome_body === undefined)) return
        const [path, other] =
          welcome_body === undefined ? ['welcome_body', 'welcome_subject'] : ['welcome_subject', 'welcome_body']
        context.addIssue({ code: 'custom', path: [path], message: `must be given with ${other}: a welcome has both` })
      }),
    accept: (args) => withoutAliases(args, aliases.macro_contact_handshake ?? {}),
    output: z.object({
      request: linkShape,
      response: linkShape.nullable(),
      welcome_message: record.nullable(),
      note: z.string().optional(),
    }),
    effect: 'write',
    async run({ project_key, requester, target, to_project, ttl_seconds, welcome_subject, ...input }, context) {
      const { reason, auto_accept: accept, welcome_body } = input
      const { request, answer, left, welcome } = await shakeHands(hub, acting(context, project_key, requester), {
        with: otherAgent(target, to_project),
        reason,
        ttlMs: toMs(ttl_seconds),
        accept,
        welcome: welcome_body === undefined ? undefined : { subject: welcome_subject, body: welcome_body },
      })
      return {
        request: toLink(request),
        response: answer ? toLink(answer) : null,
        welcome_message: welcome ? toReceipt(welcome, reachIn(context.scope)) : null,
        ...(left && { note: `${target} has to answer itself: by its contact policy nobody does so for it.` }),
      }
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
