/** Promises about the background jobs and the commands of the mail door. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const housekeeping = [
  { id: 'mail.chore.one-process', spec: 'DESIGN Two engines', says: 'Of several processes on one database only one does a background job at a time, and once in its interval.' },
  { id: 'mail.chore.taken-over', spec: 'DESIGN Two engines', says: 'A job whose process has died is done by another, and nothing of it twice or never.' },
  { id: 'mail.chore.stops', spec: 'DESIGN Interface', says: 'Stopping waits for the part that runs, and lets another process go on at once.' },
  { id: 'mail.chore.off', spec: 'mail.md Configuration', says: 'Background jobs of mail are off by default; then only the feed of changes is pruned.' },
  { id: 'mail.ack.overdue-once', spec: 'mail.md Configuration', says: 'An overdue acknowledgement is told in the log once, however many processes and restarts there are.' },
  { id: 'mail.ack.escalated', spec: 'mail.md Configuration', says: 'Escalation says so in the log, or reserves the inbox of whoever is late as well.' },
  { id: 'mail.lease.cleanup', spec: 'mail.md Configuration', says: 'Cleanup marks expired reservations as released, and no others.' },
  { id: 'mail.retention.report', spec: 'mail.md Configuration', says: 'The retention report tells how much mail and how many attachment bytes each project has; nothing is deleted.' },
  { id: 'mail.retention.aside', spec: 'mail.md Configuration', says: 'The report leaves out the projects that RETENTION_IGNORE_PROJECT_PATTERNS names, and counts in small parts.' },
  { id: 'mail.quota.inbox', spec: 'mail.md Configuration', says: 'An inbox takes no more messages than its quota, read or not; the other recipients of a message still get it.' },
  { id: 'cli.acks.pending', spec: 'mail.md CLI', says: '`acks pending` and `list-acks` show what an agent has not acknowledged, the newest first.' },
  { id: 'cli.acks.remind', spec: 'mail.md CLI', says: '`acks remind` shows what has waited for longer than a time, the oldest first.' },
  { id: 'cli.acks.overdue', spec: 'mail.md CLI', says: '`acks overdue` shows what has waited for longer than ACK_TTL_SECONDS or --ttl-minutes, the oldest first.' },
  { id: 'cli.acks.looks-only', spec: 'mail.md CLI', says: 'Looking at the acknowledgements of an agent marks nothing and does not make it active.' },
  { id: 'cli.acks.errors', spec: 'DESIGN Errors', says: 'An unknown project or agent is a message with a hint and exit code 1; wrong usage is exit code 2.' },
  { id: 'cli.acks.harmless', spec: 'DECISIONS all 9', says: 'The text of agents cannot steer a terminal that shows acknowledgements.' },
  { id: 'cli.migrate.tells', spec: 'mail.md CLI', says: '`migrate` brings the schema up to date and tells what it applied; a second time there is nothing to do.' },
  { id: 'cli.migrate.refuses', spec: 'DECISIONS bus 1', says: '`migrate` leaves a newer or foreign database as it is, names it, and ends with exit code 1.' },
  { id: 'cli.help.complete', spec: 'mail.md CLI', says: '`parley --help` names every command.' },
] as const satisfies readonly Requirement[]
