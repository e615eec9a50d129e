/** The tools of the mail door about the server itself. */
import { z } from 'zod'
import type { Hub } from '../../../core/hub/hub.ts'
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
    }),
    effect: 'read',
    async run() {
      const { environment, http, databaseUrl } = about
      const status = await hub.ready().then(
        () => 'ok' as const,
        () => 'degraded' as const,
      )
      return { status, environment, http_host: http.host, http_port: http.port, database_url: databaseUrl }
    },
  })
  return [healthCheck]
}
