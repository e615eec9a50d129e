/** The effects of `parley init` for this user: its record, and the clients whose settings still have the server. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { HubError } from '../base/errors.ts'
import { serverName } from '../client-settings/client.ts'
import { isInPlace } from '../client-settings/edits.ts'
import { readSettingsFile } from '../client-settings/files.ts'
import {
  clientOfOwner,
  type InitRecord,
  type RecordedEdit,
  readRecord,
  scopeOfOwner,
} from '../client-settings/record.ts'
import { type Edit, type Format, LeaveAlone, type Placed } from '../client-settings/shapes.ts'

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
  for (const { edit, owners } of editsThere(env))
    if (isServer(edit))
      for (const owner of owners) found.set(owner, { client: clientOfOwner(owner), scope: scopeOfOwner(owner) })
  return [...found.values()]
}

export const isServer = (edit: Edit): boolean => edit.kind === 'entry' && edit.path.at(-1) === serverName
export const isHook = (edit: Edit): boolean =>
  edit.kind === 'block' ? edit.name === 'plugin' : edit.kind === 'item' && edit.path[0] === 'hooks'

/** The servers and hooks of init that still stand in their files, each with its file. */
export const editsThere = (env: Environment): (RecordedEdit & { readonly file: string })[] =>
  Object.entries(initRecord(env)).flatMap(([path, { format, edits }]) =>
    edits
      .filter((one) => (isServer(one.edit) || isHook(one.edit)) && isThere(path, format, one))
      .map((one) => ({ ...one, file: path })),
  )

function isThere(path: string, format: Format, placed: Placed): boolean {
  try {
    return isInPlace(format, readSettingsFile(path, []).text ?? '', placed)
  } catch (error) {
    if (error instanceof LeaveAlone) return false
    throw error
  }
}
