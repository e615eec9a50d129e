/** The clients of this user, for doctor: which are installed, and which have the server and hooks of init in their settings. */
import { installedClients } from '../client-settings/installed.ts'
import { clientOfOwner } from '../client-settings/record.ts'
import { editsThere, homeOf, isHook, isServer } from './clients-set-up.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface ClientHere {
  readonly installed: boolean
  /** Whether the server, and hooks or a plugin, stand in its settings now. */
  readonly server: boolean
  readonly hooks: boolean
}

/** The clients that are installed for this user, or set up. */
export function clientsHere(env: Environment): ReadonlyMap<string, ClientHere> {
  const found = new Map<string, ClientHere>()
  const none = { installed: false, server: false, hooks: false }
  const note = (client: string, more: Partial<ClientHere>) =>
    found.set(client, { ...(found.get(client) ?? none), ...more })
  const places = { home: homeOf(env), folder: '.', env, platform: process.platform }
  for (const client of installedClients(places)) note(client, { installed: true })
  for (const { edit, owners } of editsThere(env))
    for (const client of owners.map(clientOfOwner)) {
      if (isServer(edit)) note(client, { server: true })
      if (isHook(edit)) note(client, { hooks: true })
    }
  return found
}
