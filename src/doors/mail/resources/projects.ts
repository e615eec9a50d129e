/** The resources of the mail door about projects and their agents. */

import { z } from 'zod'
import { limits } from '../../../base/limits.ts'
import { pageAgents } from '../../../core/agents/profiles.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { listProjects } from '../../../core/projects/projects.ts'
import { BareList, type CallContext, type Resource } from '../../mcp/table.ts'
import { toMs } from '../../words/fields.ts'
import { limitParameter } from '../../words/parameters.ts'
import { toProfile, toProject } from '../../words/profiles.ts'
import { projectParameter } from '../fields.ts'
import { wish } from '../profiles.ts'
import { defineResource } from '../resource.ts'
import type { MailScope } from '../scope.ts'

const limit = limitParameter(limits.listed, limits.listed)
const projectId = z
  .string()
  .regex(/^\d{1,15}$/, 'must be the id of a project, a whole number')
  .transform(Number)
const seconds = z.coerce.number('must be a number of seconds').positive('must be a number of seconds above 0')

const pageEnd = (next: string | undefined) =>
  next === undefined ? { has_more: false } : { has_more: true, next_after: next }

export function projectResources(hub: Hub): Resource<MailScope>[] {
  const projects = {
    name: 'projects',
    params: z.object({ limit, after: projectId.optional() }),
    async read({ limit, after }: { limit: number; after?: number | undefined }, { caller }: CallContext<MailScope>) {
      const { projects, hasMore } = await listProjects(hub, caller, { limit, after })
      return new BareList(projects.map(toProject), {
        has_more: hasMore,
        ...(hasMore && { next_after: projects.at(-1)?.id }),
      })
    },
  }

  return [
    // Twice, because a template is not in resources/list, and this is where a client begins to look.
    defineResource({
      ...projects,
      uri: 'resource://projects',
      description: 'The projects, in the order they were made.',
    }),
    defineResource({
      ...projects,
      uri: 'resource://projects{?limit,after}',
      description: 'The projects, a page at a time: after is the id of the last one seen.',
    }),

    defineResource({
      uri: 'resource://project/{slug}{?limit,after}',
      name: 'project',
      description: 'A project and its agents by name. Where there are more, next_after says where to continue.',
      own: { project: 'slug' },
      params: z.object({ slug: projectParameter, limit, after: wish }),
      async read({ slug, ...page }, { caller }) {
        const { project, agents, next } = await pageAgents(hub, caller, slug, page)
        return {
          ...toProject(project),
          agents: agents.map(toProfile),
          ...pageEnd(next),
        }
      },
    }),

    defineResource({
      uri: 'resource://agents/{slug}{?active_within_seconds,limit,after}',
      name: 'agents',
      description:
        'The agents of a project by name, with their last activity and unread mail. Where there are more, next_after says where to continue.',
      own: { project: 'slug' },
      params: z.object({ slug: projectParameter, active_within_seconds: seconds.optional(), limit, after: wish }),
      async read({ slug, active_within_seconds: seconds, ...page }, { caller }) {
        const asked = { ...page, activeWithinMs: toMs(seconds) }
        const { project, agents, next } = await pageAgents(hub, caller, slug, asked)
        return {
          project: project.slug,
          count: agents.length,
          agents: agents.map(toProfile),
          ...pageEnd(next),
        }
      },
    }),
  ]
}
