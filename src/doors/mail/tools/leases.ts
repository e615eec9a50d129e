/** The tools of the mail door about leases: reserve paths, release them, keep them for longer. */
import { z } from 'zod'
import { limits } from '../../../base/limits.ts'
import { textFault } from '../../../base/text.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { type Choice, release, renew, reserve } from '../../../core/leases/leases.ts'
import { defineTool } from '../../mcp/table.ts'
import { check, id } from '../../words/fields.ts'
import { acting, name, projectKey } from '../fields.ts'
import { reservations, toReleased, toRenewed, toReserved } from '../lease-shapes.ts'
import type { MailScope } from '../scope.ts'

const tool = defineTool<MailScope>()
const cluster = 'file reservations'
const mostPaths = 100

/** Each is read by the hub, which knows the folder of the project. */
export const paths = z.array(z.string()).max(mostPaths)

export const leaseReason = z.string().max(limits.reasonLength).check(check(textFault))

export const ttlSeconds = z.int().min(1).max(limits.leaseSeconds)

/** An empty list is no way to say all: it may be what a program made of nothing (mail.lease.empty-list). */
const notEmpty = 'must not be empty; leave it out to mean all of yours'

const chosen = {
  paths: paths.min(1, notEmpty).optional().describe('Patterns as you reserved them.'),
  file_reservation_ids: z.array(id).min(1, notEmpty).max(1000).optional(),
}

function choice(paths: readonly string[] | undefined, ids: readonly number[] | undefined): Choice {
  return paths === undefined && ids === undefined ? {} : { patterns: paths ?? [], ids: ids ?? [] }
}

export function leaseTools(hub: Hub) {
  const reservePaths = tool({
    name: 'file_reservation_paths',
    title: 'Reserve files',
    description:
      'Reserve the files you are about to edit. Granted even if others hold them: talk to the holders that conflicts lists.',
    cluster,
    own: { agent: 'agent_name', project: 'project_key' },
    input: z.strictObject({
      project_key: projectKey,
      agent_name: name,
      paths: paths.min(1).describe('Paths or globs in the project: src/api/*.ts, docs/**'),
      ttl_seconds: ttlSeconds.default(3600).describe('Until they are free again.'),
      exclusive: z.boolean().default(true).describe('false: others may share them.'),
      reason: leaseReason.default(''),
      on_conflict: z.enum(['grant', 'refuse']).default('grant').describe('refuse: grant free paths only.'),
    }),
    output: z.object({ conflicts: reservations, note: z.string().optional(), granted: reservations }),
    effect: 'write',
    async run({ project_key, agent_name, paths, ttl_seconds, exclusive, reason, on_conflict }, context) {
      const reserved = await reserve(hub, acting(context, project_key, agent_name), {
        patterns: paths,
        exclusive,
        reason,
        ttlMs: ttl_seconds * 1000,
        onConflict: on_conflict,
      })
      return toReserved(reserved)
    },
  })

  const releaseReservations = tool({
    name: 'release_file_reservations',
    title: 'Release files',
    description: 'End your file reservations: those you name by pattern or id; all if you name none.',
    cluster,
    own: { agent: 'agent_name', project: 'project_key' },
    input: z.strictObject({ project_key: projectKey, agent_name: name, ...chosen }),
    output: z.object({
      released: z.int(),
      released_at: z.string(),
      note: z.string().optional(),
      file_reservations: reservations.optional(),
      has_more: z.boolean().optional(),
    }),
    effect: 'write',
    idempotent: true,
    async run({ project_key, agent_name, paths, file_reservation_ids }, context) {
      const as = acting(context, project_key, agent_name)
      return toReleased(as.project, await release(hub, as, choice(paths, file_reservation_ids)))
    },
  })

  const renewReservations = tool({
    name: 'renew_file_reservations',
    title: 'Keep files for longer',
    description: 'Add time to your active file reservations: those you name by pattern or id; all if you name none.',
    cluster,
    own: { agent: 'agent_name', project: 'project_key' },
    input: z.strictObject({
      project_key: projectKey,
      agent_name: name,
      extend_seconds: ttlSeconds.default(1800),
      ...chosen,
    }),
    output: z.object({ renewed: z.int(), file_reservations: reservations, note: z.string().optional() }),
    effect: 'write',
    async run({ project_key, agent_name, extend_seconds, paths, file_reservation_ids }, context) {
      const choosing = { ...choice(paths, file_reservation_ids), byMs: extend_seconds * 1000 }
      const leases = await renew(hub, acting(context, project_key, agent_name), choosing)
      return toRenewed(leases)
    },
  })

  return [reservePaths, releaseReservations, renewReservations]
}
