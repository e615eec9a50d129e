/** The folder that a client works in: said with the call, or asked for, once a session (identity.project.roots). */
import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server'
import { HubError } from '../../../base/errors.ts'
import { parsedJson } from '../../../base/json.ts'
import { isAbsolutePath } from '../../../base/names.ts'
import { abilitiesIn, openDialogue } from './dialogue.ts'
import { isRecord } from './json.ts'
import type { Incoming } from './methods.ts'
import type { Service } from './service.ts'

/** Clients answer at once, from memory; one that does not is not waited for in every call. */
const patienceMs = 5000

const name = 'parley_roots'
const question = { [name]: { method: 'roots/list' } } as const

export async function folderOf<Scope>(service: Service<Scope>, incoming: Incoming<Scope>): Promise<string | undefined> {
  const said = workspaceIn(incoming.params)
  if (said !== undefined) return said
  const { conversation } = incoming.exchange
  // In the newer era the answer comes with the call itself, and is asked for with each.
  if (incoming.era.name === 'modern' || conversation === undefined) return askRoots(service, incoming)
  conversation.folder ??= askInTime(service, incoming)
  const asked = conversation.folder
  return asked.catch(async () => {
    // The call that asked was cancelled: the next one asks again.
    if (conversation.folder === asked) conversation.folder = undefined
    return askRoots(service, incoming)
  })
}

/** Whether a call of this client may tell its folder: its list of tools then says that the argument may be left out. */
export function mayTellFolder<Scope>({ params, exchange, era }: Incoming<Scope>): boolean {
  const meta = isRecord(params._meta) ? params._meta : {}
  const can = era.name === 'modern' ? abilitiesIn(meta[CLIENT_CAPABILITIES_META_KEY]) : exchange.client?.can
  return can?.includes('roots') === true || exchange.client?.name.startsWith('codex') === true
}

async function askInTime<Scope>(service: Service<Scope>, incoming: Incoming<Scope>): Promise<string | undefined> {
  const late = Promise.withResolvers<undefined>()
  const cancel = service.engine.clock.after(patienceMs, () => late.resolve(undefined))
  return Promise.race([askRoots(service, incoming), late.promise]).finally(cancel)
}

async function askRoots<Scope>(service: Service<Scope>, incoming: Incoming<Scope>): Promise<string | undefined> {
  // Read as it comes: an answer that is not to the letter would be asked for again, and again.
  const { inputResponses: given } = incoming.params
  if (isRecord(given) && name in given) return firstOf(given[name])
  const dialogue = openDialogue(service, incoming)
  if (!dialogue.can('roots/list')) return undefined
  try {
    return firstOf((await dialogue.ask(question))[name])
  } catch (error) {
    // It answers with an error, or cannot be reached: it does not tell.
    if (error instanceof HubError) return undefined
    throw error
  }
}

/** The first is the folder that the client was started in. */
function firstOf(answer: unknown): string | undefined {
  const roots = isRecord(answer) && Array.isArray(answer.roots) ? (answer.roots as unknown[]) : []
  return roots.map((root) => (isRecord(root) ? pathOf(String(root.uri)) : undefined)).find((path) => path !== undefined)
}

/** A path on the client's machine, whatever system that has: `file:///C:/code` is `C:/code`. */
function pathOf(uri: string): string | undefined {
  const url = /^file:\/\//i.test(uri) ? URL.parse(uri) : null
  if (url === null) return undefined
  try {
    const path = decodeURIComponent(url.pathname).replace(/^\/(?=[A-Za-z]:)/, '')
    const whole = url.host === '' || url.host === 'localhost' ? path : `//${url.host}${path}`
    return isAbsolutePath(whole) ? whole : undefined
  } catch {
    return undefined
  }
}

/** Codex says with each call which repository it works in: the key of its first workspace is the root. */
function workspaceIn({ _meta: meta }: Incoming<unknown>['params']): string | undefined {
  const turn = isRecord(meta) ? meta['x-codex-turn-metadata'] : undefined
  const said = typeof turn === 'string' ? parsedJson(turn) : turn
  const workspaces = isRecord(said) && isRecord(said.workspaces) ? Object.keys(said.workspaces) : []
  return workspaces.find(isAbsolutePath)
}
