/** `parley doctor` about clients: a line for each whose sessions the store knows. */
import type { Reader } from '../db/port.ts'
import type { Finding } from '../doors/cli/operating/doctor.ts'
import { count } from '../doors/cli/terminal/phrases.ts'
import { ago } from '../doors/words/times.ts'
import { type ClientRow, listClients } from '../store/client-sessions.ts'
import { ok, warning } from './findings.ts'

/** Clients whose hooks do nothing until a person trusts them. */
const untrusted = ['codex']

export const clientFindings = async (reader: Reader, now: number): Promise<Finding[]> =>
  (await listClients(reader, now)).map((row) => clientFinding(row, now))

function clientFinding({ client, sessions, heard_at, waiters }: ClientRow, now: number): Finding {
  const standing = Number(waiters) === 0 ? 'no waiter now' : `${count(Number(waiters), 'waiter')} now`
  const known = `${client}: ${count(Number(sessions), 'session')}, ${standing}`
  if (heard_at !== null) return ok('client', `${known}, hooks last heard ${ago(heard_at, now)}`)
  if (!untrusted.includes(client)) return ok('client', `${known}, no hook heard`)
  return warning(
    'client',
    `${known}. It calls Parley, and none of its hooks was heard.`,
    'Start its window and choose "Trust all and continue"; `parley init` writes the hooks.',
  )
}
