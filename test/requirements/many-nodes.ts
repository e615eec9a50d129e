/** Promises about several processes and several database servers: workers, failover, a pooler. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const manyNodes = [
  { id: 'serve.failover.moves', spec: 'mail.md Operational notes', says: 'Of several PostgreSQL servers the one that takes writes is used; when it changes, work and wake-ups follow.' },
  { id: 'serve.failover.read-only', spec: 'mail.md Operational notes', says: 'A connection to a server that became read-only is dropped, and the work that it refused runs again elsewhere.' },
  { id: 'serve.failover.unknown', spec: 'DESIGN Errors', says: 'A commit whose answer is lost is told as unknown, never as saved or as not saved.' },
  { id: 'serve.failover.told', spec: 'mail.md Operational notes', says: 'Settings of PostgreSQL by which acknowledged work would be lost are named at the start and by doctor.' },
  { id: 'serve.failover.once', spec: 'DESIGN Nothing lost', says: 'A send or a take whose commit had no answer is looked up: nothing is sent twice, nothing taken is lost.' },
  { id: 'serve.workers.one', spec: 'mail.md Deployment', says: 'Workers serve one port as one node: each goes on with any session, wakes all waits, and shows all figures.' },
  { id: 'serve.workers.limits', spec: 'mail.md Deployment', says: 'A limit that a process keeps in memory is one limit for all workers.' },
  { id: 'serve.workers.again', spec: 'DESIGN Nothing lost', says: 'A worker that dies is started again, loses nothing acknowledged, and no counter falls.' },
  { id: 'serve.workers.stop', spec: 'DESIGN Interface', says: 'A signal to the first process ends all workers in good order with exit code 0.' },
  { id: 'serve.reload.nothing', spec: 'mail.md Deployment', says: 'SIGHUP never ends a server that is not on a terminal, whether or not it has anything to read anew.' },
] as const satisfies readonly Requirement[]
