/** Names, paths and texts that are longer than any column: what is wide in the work of agents. */
import { local, operator } from '../../src/core/access/callers.ts'
import { ensureAgent } from '../../src/core/agents/agents.ts'
import { createKey } from '../../src/core/agents/keys.ts'
import { register } from '../../src/core/agents/registration.ts'
import { requestContact } from '../../src/core/contact-requests/requests.ts'
import type { Hub } from '../../src/core/hub/hub.ts'
import { reserve } from '../../src/core/leases/leases.ts'
import { send } from '../../src/core/messages/send.ts'
import { registered } from './hub.ts'

export const wide = {
  folder: `/srv/${'workspaces-of-the-platform-team/'.repeat(5)}checkout-and-refund-service`,
  name: `Continuous${'IntegrationRunner'.repeat(4)}xyz`,
  path: `${'packages/checkout-service/src/'.repeat(4)}PartialRefundReconciliationController.ts`,
}

const nested = Array.from({ length: 40 }, (_, depth) => `${'  '.repeat(depth)}- level ${depth}`).join('\n')

export async function seedWide(hub: Hub): Promise<void> {
  const project = wide.folder
  const agent = (name: string, more: object = {}) =>
    register(hub, local, { project, name, program: 'claude-code', model: 'opus-5', task: '', ...more })
  await agent(wide.name, { task: `Reconciling ${wide.path} with the ledger of last month` })
  for (const name of ['TealOtter', 'GreenCastle', 'GreyCliff', 'BlueLake']) await agent(name)
  for (const name of ['Agent10', 'Agent11']) await ensureAgent(hub, local, { project, name })
  const from = registered('TealOtter', project)
  const mail = (subject: string, body: string, thread?: string) =>
    send(hub, from, { to: [{ name: wide.name }, { name: 'BlueLake' }], subject, body, thread })
  await mail(`Exclusive ${wide.path} and ${'supercalifragilistic'.repeat(6)}`, 'One | two\n\n---\n\n```\ncode\n```')
  await mail('\u200b\u200b', 'Nobody sees this subject.', 'INVISIBLE-1')
  await mail('Forty levels', nested, 'NESTED-40')
  const ask = { exclusive: true, ttlMs: 3_600_000, onConflict: 'grant' as const }
  await reserve(hub, from, {
    ...ask,
    patterns: [wide.path],
    reason: 'Refunds of partial orders, exclusive while it runs',
  })
  await reserve(hub, registered(wide.name, project), { ...ask, patterns: [`packages/**`], reason: wide.path })
  await requestContact(hub, registered(wide.name, project), {
    to: { name: 'BlueLake' },
    reason: `Questions about ${wide.path}, before the release`,
  })
  for (const name of ['IronGate', 'StillWater']) {
    await agent(name)
    await createKey(hub, registered(name, project))
  }
  for (let n = 0; n < 6; n++)
    await send(
      hub,
      { ...registered('IronGate', project), caller: operator },
      { to: [{ name: 'StillWater' }], subject: `Key ${n}`, body: 'secret' },
    )
}
