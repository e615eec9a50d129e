/** The effects of `parley init` for this user: its record, and the clients whose settings still have the server. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { HubError } from '../base/errors.ts'
import { serverName } from '../client-settings/client.ts'
import { isInPlace } from '../client-settings/edits.ts'
import { readSettingsFile } from '../client-settings/files.ts'
import { clientOfOwner, type InitRecord, readRecord, scopeOfOwner } from '../client-settings/record.ts'
import { type Format, LeaveAlone, type Placed } from '../client-settings/shapes.ts'

type Environment = Readonly<Record<string, string | undefined>>

export const homeOf = ({ HOME, USERPROFILE }: Environment): string => HOME || USERPROFILE || homedir()

export const recordFile = (env: Environment): string => join(homeOf(env), '.parley', 'clients.json')

export function initRecord(env: Environment): InitRecord {
  try {
    return readRecord(recordFile(env))
  } catch (error) {
    if (error instanceof LeaveAlone) throw new HubError('INVALID_ARGUMENT', `${error.message}.`)
    throw error
  }
}

/** The clients whose settings have Parley in them now, each with where. */
export function clientsSetUp(env: Environment): { readonly client: string; readonly scope: string }[] {
  const found = new Map<string, { client: string; scope: string }>()
  for (const [path, { format, edits }] of Object.entries(initRecord(env)))
    for (const one of edits.filter(({ edit }) => edit.kind === 'entry' && edit.path.at(-1) === serverName))
      if (isThere(path, format, one))
        for (const owner of one.owners) found.set(owner, { client: clientOfOwner(owner), scope: scopeOfOwner(owner) })
  return [...found.values()]
}

function isThere(path: string, format: Format, placed: Placed): boolean {
  try {
    return isInPlace(format, readSettingsFile(path, []).text ?? '', placed)
  } catch (error) {
    if (error instanceof LeaveAlone) return false
    throw error
  }
}
