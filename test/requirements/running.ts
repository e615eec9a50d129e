/** Promises about running Parley for others: upgrades, and what operators do. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const running = [
  { id: 'upgrade.steps.own', spec: 'DECISIONS bus 1', says: 'Each migration is a transaction of its own: one that fails undoes nothing of those before it.' },
  { id: 'upgrade.beside.runs', spec: 'DECISIONS bus 1', says: 'A node starts on a newer schema if each newer migration says that nodes like it can run beside it.' },
  { id: 'upgrade.beside.refuses', spec: 'DECISIONS bus 1', says: 'A node refuses a newer schema whose migrations do not say so, and names it.' },
  { id: 'upgrade.beside.backup', spec: 'DECISIONS bus 1', says: 'A node on a newer schema with tables that it does not know makes no backup without them.' },
  { id: 'upgrade.beside.statements', spec: 'DECISIONS bus 1', says: 'Statements that a running node keeps prepared on PostgreSQL go on after another node has changed their tables.' },
  { id: 'upgrade.plan.shown', spec: 'DECISIONS bus 1', says: '`migrate --plan` shows the SQL of each missing step, whether older nodes can run beside it, and changes nothing.' },
  { id: 'upgrade.stored.migrates', spec: 'DECISIONS bus 1', says: 'A stored database of each release is brought up to date on both engines, with every row.' },
  { id: 'upgrade.stored.unchanged', spec: 'DECISIONS bus 1', says: 'The SQL of a released migration never changes.' },
] as const satisfies readonly Requirement[]
