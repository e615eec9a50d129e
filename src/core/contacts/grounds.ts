/** Grounds to let a message through to the policy `auto`: a shared thread, overlapping leases, recent contact. */
import type { Tx } from '../../db/port.ts'
import { listRecentPartners, listThreadMates } from '../../store/contacts/grounds.ts'
import { listHeld } from '../../store/leases.ts'
import type { Agent } from '../agents/agents.ts'
import type { Hub } from '../hub/hub.ts'
import { haveOverlappingLeases } from '../leases/leases.ts'

interface Looking {
  readonly tx: Tx
  readonly sender: Agent
  readonly recipients: readonly Agent[]
  readonly threads: readonly number[]
}

interface Grounds {
  /** The ids of the recipients with a ground. */
  readonly found: ReadonlySet<number>
  /** Of those, the ones whose ground is recent contact. */
  readonly recent: readonly number[]
}

/** The cheapest question comes first, and each recipient leaves with its first ground. */
export async function findGrounds(hub: Hub, { tx, sender, recipients, threads }: Looking): Promise<Grounds> {
  const found = new Set<number>()
  const left = () => recipients.filter(({ id }) => !found.has(id))
  const pairs = () => ({ senderId: sender.id, ids: left().map(({ id }) => id) })
  const add = (ids: readonly number[]) => {
    for (const id of ids) found.add(id)
  }
  const now = hub.clock.now()
  for (const threadId of threads) if (left().length > 0) add(await listThreadMates(tx, { ...pairs(), threadId, now }))
  const neighbours = left().filter(({ projectId }) => projectId === sender.projectId)
  // A sender without a lease shares none with anybody: one look instead of one for each recipient.
  if (neighbours.length > 0 && (await listHeld(tx, sender.id, now)).length > 0)
    for (const { id } of neighbours) if (await haveOverlappingLeases(tx, sender.id, id, now)) add([id])
  // Of these grounds only a shared thread reaches beyond the project (mail.contact.border).
  const strangers = neighbours.flatMap(({ id }) => (found.has(id) ? [] : [id]))
  const since = now - hub.rules.contacts.autoMs
  const recent =
    strangers.length > 0 ? await listRecentPartners(tx, { senderId: sender.id, ids: strangers, since }) : []
  add(recent)
  return { found, recent }
}
