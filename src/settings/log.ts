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
  LOG_RICH_ENABLED: setting({
    default: 'true',
    says: 'Whether the log on a terminal has colours, and its details on lines of their own; false writes each entry as one plain line.',
    parse: flag,
  }),
  LOG_INCLUDE_TRACE: setting({
    default: 'false',
    says: 'Whether entries of level trace are logged whatever LOG_LEVEL says, unless it is silent.',
    parse: flag,
  }),
} as const
