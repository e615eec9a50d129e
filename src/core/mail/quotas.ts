/** How far the quotas of inboxes and attachments are used up, for whoever asks whether the server is well. */
import type { Caller } from '../access/callers.ts'
import { mayOversee } from '../access/rules.ts'
import type { Hub } from '../hub/hub.ts'
import { quotaState } from '../hub/quotas.ts'

/** More projects are counted, and not named. */
const mostNamed = 20

/** An agent with a key learns how many projects are near, and not which. */
export async function findQuotas(hub: Hub, caller: Caller) {
  const { inboxes, attachments } = await quotaState(hub)
  if (attachments === undefined) return { inboxes }
  const { limit, near } = attachments
  const projects = mayOversee(caller) ? near.slice(0, mostNamed) : undefined
  return { inboxes, attachments: { limit, near: near.length, projects } }
}
