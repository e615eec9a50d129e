/** Facts about its server that the mail door tells, never a secret. */
import type { Installation } from '../../core/leases/guard-hooks.ts'
import type { Usage } from '../mcp/usage.ts'

export interface About {
  /** APP_ENVIRONMENT. */
  readonly environment: string
  readonly version: string
  /** Where it listens; the port is known once it does. */
  readonly http: { readonly host: string; readonly port: number; readonly path: string }
  /** Without user, password and parameters. */
  readonly databaseUrl: string
  readonly usage: Usage
  /** How the guards that it installs reach this server. */
  guards(): Installation
}
