/** Settings of the log. */
import { flag, oneOf, setting } from './kinds.ts'

export const logSettings = {
  LOG_LEVEL: setting({
    default: 'info',
    says: 'Least severe level that is logged: fatal, error, warn, info, debug, trace, or silent for none; debug has a line for each request.',
    parse: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  }),
  LOG_JSON_ENABLED: setting({
    default: 'false',
    says: 'Whether the log is JSON on a terminal too. Elsewhere it always is.',
    parse: flag,
  }),
} as const
