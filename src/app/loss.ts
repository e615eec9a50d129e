/** Acknowledged changes that the database has lost: what is missing, which backup helps, and how to go on without them. */
import { HubError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { forgetAcknowledged } from '../db/sqlite/acknowledged.ts'
import { findLoss, type Loss } from '../db/sqlite/loss.ts'
import { parseDatabaseUrl } from '../db/url.ts'
import { lastChange } from '../store/feed/changes.ts'

/** Thrown by whatever opens the store, until the file is back, a backup is restored or the loss is accepted. */
export class ChangesMissing extends HubError {
  constructor(loss: Loss) {
    super('STORAGE_FAILED', whatIsMissing(loss), { hint: whatHelps(loss) })
  }
}

/** A PostgreSQL server keeps its own log, and checks it. */
export function lossAt(databaseUrl: string): Loss | undefined {
  const place = parseDatabaseUrl(databaseUrl)
  return place.dialect === 'sqlite' ? findLoss(place.file, lastChange) : undefined
}

/** A file that SQLite cannot read any more, and that was Parley's: there is nothing in it to go on with. */
export const isBeyondReading = (databaseUrl: string): boolean => lossAt(databaseUrl)?.state === 'unreadable'

/** Throws if changes are missing, unless that is accepted: then the store begins to count from what is there. */
export function refuseLoss(databaseUrl: string, { acceptLoss = false, log }: LossOptions = {}): void {
  const loss = lossAt(databaseUrl)
  if (loss === undefined) return
  const missing = new ChangesMissing(loss)
  const place = parseDatabaseUrl(databaseUrl)
  if (!acceptLoss || loss.state === 'unreadable' || place.dialect === 'postgres') throw missing
  forgetAcknowledged(place.file)
  log?.warn({ database: place.file, event: 'loss_accepted' }, `${missing.message} The loss was accepted.`)
}

export interface LossOptions {
  readonly acceptLoss?: boolean
  readonly log?: Log
}

/** Without the path: callers from elsewhere are told, too. */
function whatIsMissing({ acknowledged, state, last, why }: Loss): string {
  if (acknowledged === undefined)
    return 'The database is empty, and the log beside it is not: their content is missing.'
  const { number, at } = acknowledged
  const known = `${number} changes were acknowledged, the last of them at ${isoTime(at)}`
  switch (state) {
    case 'absent':
      return `There is no database any more: ${known}.`
    case 'empty':
      return `The database is empty: ${known}.`
    case 'unreadable':
      return `SQLite cannot read the database any more (${why}): ${known}.`
    case 'behind': {
      const ends = last === undefined ? 'it holds none' : `it ends with change ${last.id} of ${isoTime(last.at)}`
      const count = number - (last?.id ?? 0)
      return `${count} acknowledged ${count === 1 ? 'change is' : 'changes are'} missing from the database: ${ends}, and change ${number} was acknowledged at ${isoTime(at)}.`
    }
  }
}

function whatHelps({ state, last }: Loss): string {
  const back = 'If the file of the database, or the -wal beside it, was moved or cut, stop Parley and put it back.'
  const backup =
    last === undefined
      ? 'The newest backup brings back the most: `parley restore <file> --force`.'
      : `A backup made after ${isoTime(last.at)} holds more than the database does, an older one less: \`parley restore <file> --force\`.`
  const without =
    state === 'unreadable'
      ? 'To begin anew: `parley clear-and-reset-everything`.'
      : 'To continue without the missing changes, start once with `parley serve --accept-loss` (or run `parley migrate --accept-loss`).'
  return `${back} ${backup} ${without}`
}

const isoTime = (at: number): string => new Date(at).toISOString()
