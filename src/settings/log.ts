/** Settings of the log. */
import { flag, oneOf } from './kinds.ts'

export const logSettings = {
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info').says(
    'Least severe level that is logged: fatal, error, warn, info, debug, trace, or silent for none; debug has a line for each request.',
  ),
  LOG_JSON_ENABLED: flag(false).says('Whether the log is JSON on a terminal too. Elsewhere it always is.'),
  LOG_RICH_ENABLED: flag(true).says(
    'Whether the log on a terminal has colours and puts details on their own lines; false writes each entry as one plain line.',
  ),
  LOG_INCLUDE_TRACE: flag(false).says(
    'Whether entries of level trace are logged whatever LOG_LEVEL says, unless it is silent.',
  ),
}
