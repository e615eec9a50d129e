/** Settings of the log. */
import { flag, oneOf, setting } from './kinds.ts'

export const logSettings = {
  LOG_LEVEL: setting({
    default: 'info',
    says: 'How much is logged: fatal, error, warn, info, debug or trace; debug has a line for each request.',
    parse: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  }),
  LOG_JSON_ENABLED: setting({
    default: 'false',
    says: 'Whether the log is JSON also on a terminal. Elsewhere it always is.',
    parse: flag,
  }),
} as const
