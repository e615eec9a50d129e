/** The tools of the mail door about the server itself. */
import { z } from 'zod'
import type { Caller } from '../../../core/access/callers.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { findQuotas } from '../../../core/mail/quotas.ts'
import { defineTool } from '../../mcp/table.ts'
import type { About } from '../about.ts'
import type { MailScope } from '../scope.ts'

export function toolingTools(hub: Hub, about: About) {
  const healthCheck = defineTool<MailScope>()({
    name: 'health_check',
    title: 'Health check',
    description: 'Check that the server and its database answer: status is ok or degraded.',
    cluster: 'infrastructure',
    input: z.strictObject({}),
    output: z.object({
      status: z.enum(['ok', 'degraded']),
      environment: z.string(),
      http_host: z.string(),
      http_port: z.int(),
      database_url: z.string(),
      quotas: z
        .object({
          inboxes: z.object({ limit: z.int(), at_80_percent: z.int(), full: z.int() }).optional(),
          attachments: z
            .object({
              limit_bytes: z.int(),
              at_80_percent: z.int(),
              projects: z.array(z.object({ project: z.string(), bytes: z.int() })).optional(),
            })
            .optional(),
        })
        .optional()
        .describe('Only with QUOTA_ENABLED; counted within the last five minutes.'),
    }),
    effect: 'read',
    async run(_, { caller }) {
      const { environment, http, databaseUrl } = about
      const status = await hub.ready().then(
        () => 'ok' as const,
        () => 'degraded' as const,
      )
      const quotas = status === 'ok' ? await quotasOf(hub, caller) : undefined
      return {
        status,
        environment,
        http_host: http.host,
        http_port: http.port,
        database_url: databaseUrl,
        ...(quotas && { quotas }),
      }
    },
  })
  return [healthCheck]
}

async function quotasOf(hub: Hub, caller: Caller) {
  const { inboxes, attachments } = await findQuotas(hub, caller)
  if (inboxes === undefined && attachments === undefined) return undefined
  return {
    ...(inboxes && { inboxes: { limit: inboxes.limit, at_80_percent: inboxes.near, full: inboxes.full } }),
    ...(attachments && {
      attachments: {
        limit_bytes: attachments.limit,
        at_80_percent: attachments.near,
        ...(attachments.projects && { projects: attachments.projects }),
      },
    }),
  }
}
