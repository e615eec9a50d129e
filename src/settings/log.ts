/** Settings of the log. */
import { flag, folder, optional, parsed } from './kinds.ts'

const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** Names that programs in Python use. */
const otherNames: Readonly<Record<string, (typeof levels)[number]>> = { warning: 'warn', critical: 'fatal' }

export const logSettings = {
  LOG_LEVEL: parsed('info', (raw) => {
    const given = raw.trim().toLowerCase()
    const level = otherNames[given] ?? levels.find((one) => one === given)
    if (level === undefined) throw new Error(`must be one of ${levels.join(', ')}`)
    return level
  }).says(
    'Least severe level that is logged: fatal (or CRITICAL), error, warn (or WARNING), info, debug, trace, or silent for none; debug has a line for each request. SIGUSR2 makes a server log at debug for ten minutes.',
  ),
  LOG_FILE: parsed('', (raw) => (raw === '' ? undefined : folder(raw))).says(
    'File that a server writes its log to, as JSON lines, instead of stderr. SIGHUP reopens it after a rotation.',
  ),
  JOURNAL_STREAM: optional().says(
    'Set by systemd for a service whose output goes to the journal, and by nobody else: each line of the log then begins with its priority.',
  ),
  LOG_JSON_ENABLED: flag(false).says('Whether the log is JSON on a terminal too. Elsewhere it always is.'),
  LOG_RICH_ENABLED: flag(true).says(
    'Whether the log on a terminal has colours and puts details on their own lines; false writes each entry as one plain line.',
  ),
  LOG_INCLUDE_TRACE: flag(false).says(
    'Whether entries of level trace are logged whatever LOG_LEVEL says, unless it is silent.',
  ),
}
