/** Notes for the log of a client (`notifications/message`), as far as it asked for them; they never reach its model. */
import { LOG_LEVEL_META_KEY, type LoggingLevel } from '@modelcontextprotocol/server'
import { isRecord } from './json.ts'
import type { Incoming } from './methods.ts'
import type { Service } from './service.ts'

/** The least severe first. */
const levels: readonly unknown[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] satisfies LoggingLevel[]

/** Sends nothing to a client that has set no level. */
export function sendNote<Scope>(
  { door }: Service<Scope>,
  { params, exchange }: Incoming<Scope>,
  level: LoggingLevel,
  data: unknown,
): void {
  const wanted = exchange.conversation?.level ?? (isRecord(params._meta) ? params._meta[LOG_LEVEL_META_KEY] : undefined)
  if (wanted === undefined || levels.indexOf(level) < levels.indexOf(wanted)) return
  const logger = door.logger ?? door.name
  exchange.notify(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level, logger, data } }))
}
