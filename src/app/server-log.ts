/** The log of a server: to LOG_FILE, the journal or stderr; opened anew by SIGHUP, and louder for a while by SIGUSR2. */
import { type Clock, systemClock } from '../base/clock.ts'
import { HubError } from '../base/errors.ts'
import { createLog, type Log, type LogOutput } from '../base/log.ts'
import { isJournal, journalOutput, type LogFile, openLogFile } from '../base/log-output.ts'
import type { Config } from '../settings/all.ts'
import { logLevel, openLog } from './open.ts'

const louderMs = 10 * 60_000

export function openServerLog(config: Config, stderr: LogOutput): Log {
  const { LOG_FILE: path, JOURNAL_STREAM: journal } = config
  const file = path === undefined ? undefined : openFile(path)
  const ofJournal = isJournal(journal, 2) ? journalOutput(stderr) : undefined
  const to = file ?? ofJournal
  const log = to === undefined ? openLog(config, stderr) : createLog({ level: logLevel(config), json: true, to })
  if (process.platform === 'win32') return log
  if (file !== undefined) process.on('SIGHUP', () => reopen(file, log))
  const louder = createLouder(log, systemClock)
  process.on('SIGUSR2', louder)
  return log
}

function openFile(path: string): LogFile {
  try {
    return openLogFile(path)
  } catch (error) {
    throw new HubError('INVALID_ARGUMENT', `LOG_FILE cannot be opened: ${(error as Error).message}.`, {
      hint: 'Name a file in a folder that exists and that this user may write to.',
      cause: error,
    })
  }
}

function reopen(file: LogFile, log: Log): void {
  try {
    file.reopen()
  } catch (error) {
    log.error({ err: error }, 'LOG_FILE could not be opened anew; the log goes on in the old file')
  }
}

/** Called again, the ten minutes begin anew. */
export function createLouder(log: Log, clock: Clock): () => void {
  const usual = log.level
  let cancel = () => {}
  return () => {
    cancel()
    if (!log.isLevelEnabled('debug')) log.level = 'debug'
    log.info({ minutes: louderMs / 60_000 }, 'the log has level debug for a while')
    cancel = clock.after(louderMs, () => {
      log.level = usual
    })
  }
}
