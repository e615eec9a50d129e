/** `parley doctor` about clients: a line for each that is installed here, that init has set up, or whose sessions the store knows. */
import type { Finding } from '../doors/cli/operating/doctor.ts'
import { count } from '../doors/cli/terminal/phrases.ts'
import { ago } from '../doors/words/times.ts'
import type { ClientRow } from '../store/client-sessions.ts'
import type { ClientHere } from './clients-here.ts'
import { ok, warning } from './findings.ts'

/** Clients whose hooks do nothing until a person trusts them. */
const untrusted = ['codex']

/** `here`: the clients of this user, by the names that init and the hooks give them. */
export function clientFindings(
  rows: readonly ClientRow[],
  { here, now }: { readonly here: ReadonlyMap<string, ClientHere>; readonly now: number },
): Finding[] {
  const known = new Map(rows.map((row) => [row.client, row]))
  return [...new Set([...here.keys(), ...known.keys()])].sort().map((client) => {
    const row = known.get(client)
    const parts = [...hereWords(here.get(client)), ...(row === undefined ? [] : knownWords(row, now))]
    const says = `${client}: ${parts.join(', ')}`
    const trusting = 'Start its window and choose "Trust all and continue"'
    if (here.get(client)?.untrusted)
      return warning('client', `${says}. It runs none of its hooks before a person trusts them.`, `${trusting}.`)
    if (row === undefined || row.heard_at !== null || !untrusted.includes(client)) return ok('client', says)
    return warning(
      'client',
      `${says}. It calls Parley, and none of its hooks was heard.`,
      `${trusting}; \`parley init\` writes the hooks.`,
    )
  })
}

function hereWords(client: ClientHere | undefined): string[] {
  if (client === undefined) return []
  const { installed, server, hooks } = client
  return [
    installed ? 'installed' : 'not found on this machine',
    ...(server ? ['set up', hooks ? 'hooks in place' : 'no hooks'] : ['not set up']),
  ]
}

function knownWords({ sessions, heard_at, waiters }: ClientRow, now: number): string[] {
  return [
    count(Number(sessions), 'session'),
    Number(waiters) === 0 ? 'no waiter now' : `${count(Number(waiters), 'waiter')} now`,
    ...(heard_at !== null ? [`hooks last heard ${ago(heard_at, now)}`] : []),
  ]
}
