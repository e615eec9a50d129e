/** Ten agents at work, one of them blocked by the lease of one that is stuck: what the board of agents is for. */
import { local } from '../../src/core/access/callers.ts'
import { ensureAgent } from '../../src/core/agents/agents.ts'
import { register } from '../../src/core/agents/registration.ts'
import type { Hub } from '../../src/core/hub/hub.ts'
import { reserve } from '../../src/core/leases/leases.ts'
import { send } from '../../src/core/messages/send.ts'
import type { TestClock } from './clock.ts'
import { registered } from './hub.ts'

export const payments = '/srv/repos/payments'

const minute = 60_000

/** Name, client, model, task, and how many minutes ago it was last seen. */
const team: readonly (readonly [string, string, string, string, number])[] = [
  ['CopperHeron', 'codex', 'gpt-6', 'Ledger: double entry for refunds', 74],
  ['EmeraldFern', 'claude-code', 'opus-5', 'Ledger: rounding of split payments', 2],
  ['CobaltFinch', 'gemini-cli', 'gemini-3', 'Webhooks of the card network', 1],
  ['AmberWillow', 'claude-code', 'sonnet-5', 'Review: idempotency keys', 3],
  ['VioletOtter', 'claude-code', 'opus-5', 'Retry queue for declined cards', 4],
  ['CrimsonOak', 'codex', 'gpt-6', 'Load test of the payment page', 12],
  ['OliveCreek', 'gemini-cli', 'gemini-3', 'Currency tables', 26],
  ['GoldenLark', 'claude-code', 'sonnet-5', 'Docs of the dispute API', 41],
  ['IndigoReef', 'codex', 'gpt-6', 'Fraud rules: velocity checks', 180],
  ['CoralMesa', 'claude-code', 'opus-5', '', 600],
]

/** The clock ends at `until`. */
export async function seedBoard(hub: Hub, clock: TestClock, until: number): Promise<void> {
  const as = (name: string) => registered(name, payments)
  const at = (minutesAgo: number) => clock.set(until - minutesAgo * minute)
  const ask = { exclusive: true, ttlMs: 240 * minute, onConflict: 'grant' as const }
  for (const [name, program, model, task, seen] of team.toSorted((a, b) => b[4] - a[4])) {
    at(Math.max(seen, 90))
    await register(hub, local, { project: payments, name, program, model, task })
  }
  at(80)
  await send(hub, as('CobaltFinch'), {
    to: [{ name: 'CopperHeron' }],
    subject: 'Refund webhook: which account is debited?',
    body: 'The card network sends two events for a partial refund. Which of them books?',
    ackRequired: true,
  })
  at(74)
  await reserve(hub, as('CopperHeron'), { ...ask, patterns: ['src/ledger/**'], reason: 'PAY-88' })
  for (const [name, , , , seen] of team.filter(([, , , , ago]) => ago < 74).toSorted((a, b) => b[4] - a[4])) {
    at(seen)
    await ensureAgent(hub, local, { project: payments, name })
    if (name === 'EmeraldFern')
      await reserve(hub, as(name), { ...ask, patterns: ['src/ledger/rounding.ts'], reason: 'PAY-91' })
    const to = name === 'AmberWillow' ? 'EmeraldFern' : 'AmberWillow'
    await send(hub, as(name), { to: [{ name: to }], subject: `Where I am: ${name}`, body: 'Still on it.' })
  }
  clock.set(until)
}
