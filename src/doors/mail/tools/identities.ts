/** The tools of the mail door about projects and identities. */
import { z } from 'zod'
import { limits } from '../../../base/limits.ts'
import { listAgents, whois } from '../../../core/agents/profiles.ts'
import { createIdentity, register } from '../../../core/agents/registration.ts'
import { listRecentCommits } from '../../../core/archive/commits.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { openProject } from '../../../core/projects/folders.ts'
import { defineTool } from '../../mcp/table.ts'
import { toMs } from '../../words/fields.ts'
import { listShape } from '../../words/lists.ts'
import { toPlaced, toProfile } from '../../words/profiles.ts'
import { humanKey, name, otherAgent, projectKey } from '../fields.ts'
import {
  attachmentsPolicy,
  introduction,
  model,
  profileShape,
  program,
  projectShape,
  roles,
  task,
  toRegistered,
  wish,
} from '../profiles.ts'
import type { MailScope } from '../scope.ts'
import { toCommit } from '../shapes.ts'

export function identityTools(hub: Hub) {
  const row = defineTool<MailScope>()
  const cluster = 'identity'
  return [
    row({
      name: 'ensure_project',
      title: 'Ensure project',
      description: 'Create the project of a repository, or find it if it exists.',
      cluster,
      own: { project: 'human_key' },
      input: z.strictObject({ human_key: humanKey }),
      output: projectShape,
      effect: 'write',
      idempotent: true,
      async run({ human_key }, { caller, self }) {
        const { place, note } = await openProject(hub, caller, human_key)
        return toPlaced(place, self?.note ?? note)
      },
    }),

    row({
      name: 'register_agent',
      title: 'Register agent',
      description:
        'Register as an agent of the project: the existing one of this name, or a new one. Use the name in the answer from then on.',
      cluster,
      own: {
        agent: 'name',
        project: 'project_key',
        description: 'Register as an agent of the project, under the name that your connection gives you.',
      },
      input: z.strictObject({
        project_key: projectKey,
        program,
        model,
        name: wish.describe(
          'Your name from before, or two capitalised words (GreenCastle). Leave out to be given one.',
        ),
        task_description: task,
        attachments_policy: attachmentsPolicy,
        roles: roles.describe('E.g. reviewer: others write to role:reviewer.'),
      }),
      output: profileShape,
      effect: 'write',
      async run({ project_key: project, name, ...given }, context) {
        const newcomer = { ...introduction(context, { project, ...given }), name }
        return toRegistered(await register(hub, context.caller, newcomer), context)
      },
    }),

    row({
      name: 'create_agent_identity',
      title: 'Create agent identity',
      description: 'Register as a new agent of the project, never as an existing one.',
      cluster,
      own: { project: 'project_key' },
      input: z.strictObject({
        project_key: projectKey,
        program,
        model,
        name_hint: wish.describe('A name you would like, such as BackendBot; used if free.'),
        task_description: task,
        attachments_policy: attachmentsPolicy,
      }),
      output: profileShape,
      effect: 'write',
      async run({ project_key: project, name_hint: hint, ...given }, context) {
        const newcomer = { ...introduction(context, { project, ...given }), hint }
        return toRegistered(await createIdentity(hub, context.caller, newcomer), context)
      },
    }),

    row({
      name: 'whois',
      title: 'Who is',
      description: 'The profile of an agent: program, model, task, last activity, unread mail, contact policy.',
      cluster,
      own: { project: 'project_key' },
      input: z.strictObject({
        project_key: projectKey,
        agent_name: name.describe('The agent.'),
        include_recent_commits: z.boolean().default(false).describe('With its latest commits in the archive.'),
        commit_limit: z.int().min(1).max(50).default(5).describe('How many commits at most.'),
      }),
      output: profileShape,
      effect: 'read',
      async run({ project_key, agent_name, include_recent_commits, commit_limit }, { caller }) {
        const { name, project = project_key } = otherAgent(agent_name)
        const profile = toProfile(await whois(hub, caller, project, name))
        if (!include_recent_commits) return profile
        const commits = await listRecentCommits(hub, caller, project, { name, limit: commit_limit })
        return { ...profile, recent_commits: commits.map(({ author: _, ...commit }) => toCommit(commit)) }
      },
    }),

    row({
      name: 'list_agents',
      title: 'List agents',
      description: 'List the agents of a project, the latest active first.',
      cluster,
      own: { project: 'project_key' },
      input: z.strictObject({
        project_key: projectKey,
        active_within_seconds: z.number().positive().optional().describe('Only those active within this time.'),
        limit: z.int().min(1).max(limits.listed).default(100).describe('How many at most.'),
      }),
      output: listShape(profileShape),
      effect: 'read',
      async run({ project_key, active_within_seconds: seconds, limit }, { caller }) {
        const asked = { activeWithinMs: toMs(seconds), limit }
        const { project, agents, more } = await listAgents(hub, caller, project_key, asked)
        const note = `Pass a higher limit for more, or read resource://agents/${project.slug}, which has pages.`
        return { result: agents.map(toProfile), has_more: more, ...(more && { note }) }
      },
    }),
  ]
}
