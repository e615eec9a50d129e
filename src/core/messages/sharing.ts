/** A message to one of a role: one delivery, to the candidate who would see it soonest, which others of the role may take. */
import type { Tx } from '../../db/port.ts'
import { insertShared } from '../../store/mail/shared.ts'
import type { Hub } from '../hub/hub.ts'
import { memory } from '../hub/memory.ts'
import type { Addressee, Recipient } from './recipients.ts'

export const isShared = ({ shared }: Pick<Addressee, 'shared'>): boolean => shared !== undefined

/** Of the candidates, who stand in the order of their ranking, the first. */
export function onlyFirst(admitted: readonly Recipient[]): readonly Recipient[] {
  const first = admitted.find(isShared)
  return first === undefined ? admitted : admitted.filter((one) => !isShared(one) || one === first)
}

interface Sharing {
  readonly messageId: number
  readonly admitted: readonly Recipient[]
  readonly passed: readonly Recipient[]
}

/** All candidates whose policy lets the sender write may take it: contact rules hold for each of them. */
export async function share(hub: Hub, tx: Tx, { messageId, admitted, passed }: Sharing): Promise<void> {
  const first = passed.find(isShared)
  if (first?.shared === undefined) return
  const among = admitted.filter(isShared).map(({ agent }) => agent.id)
  const now = hub.clock.now()
  await insertShared(tx, { messageId, agentId: first.agent.id, role: first.shared, among, now })
  sharedSeen(hub).at = now
  sharedSeen(hub).any = true
}

/** Whether there is shared mail at all, as this process last saw it, and when. */
export const sharedSeen = memory(() => ({ at: Number.NEGATIVE_INFINITY, any: false }))
