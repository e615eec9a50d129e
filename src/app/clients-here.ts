/** The clients of this user, for doctor: which are installed, and which have the server and hooks of init in their settings. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codexFolder } from '../client-settings/clients.ts'
import { installedClients } from '../client-settings/installed.ts'
import { clientOfOwner } from '../client-settings/record.ts'
import type { Edit } from '../client-settings/shapes.ts'
import { editsThere, homeOf, isHook, isServer } from './clients-set-up.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface ClientHere {
  readonly installed: boolean
  /** Whether the server, and hooks or a plugin, stand in its settings now. */
  readonly server: boolean
  readonly hooks: boolean
  /** Hooks that do nothing, because a person has not trusted them yet. */
  readonly untrusted: boolean
}

/** The clients that are installed for this user, or set up. */
export function clientsHere(env: Environment): ReadonlyMap<string, ClientHere> {
  const found = new Map<string, ClientHere>()
  const none = { installed: false, server: false, hooks: false, untrusted: false }
  const note = (client: string, more: Partial<ClientHere>) =>
    found.set(client, { ...(found.get(client) ?? none), ...more })
  const places = { home: homeOf(env), folder: '.', env, platform: process.platform }
  for (const client of installedClients(places)) note(client, { installed: true })
  const trusts = codexTrust(join(codexFolder(places), 'config.toml'))
  for (const { edit, owners, file } of editsThere(env))
    for (const client of owners.map(clientOfOwner)) {
      if (isServer(edit)) note(client, { server: true })
      if (isHook(edit)) note(client, { hooks: true })
      if (isHook(edit) && client === 'codex' && !trusts(file, edit)) note(client, { untrusted: true })
    }
  return found
}

/** Codex asks about each hook, and notes a trusted one as `[hooks.state."<file>:session_start:0:0"]`. */
function codexTrust(config: string): (file: string, edit: Edit) => boolean {
  const text = textOf(config)
  return (file, edit) => {
    const event = 'path' in edit ? (edit.path[1] ?? '') : ''
    const called = event.replace(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase()
    return text.includes(`[hooks.state.${JSON.stringify(`${file}:${called}:`).slice(0, -1)}`)
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
