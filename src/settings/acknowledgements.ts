/** Settings of acknowledgements: when one is overdue, and what happens then. */
import { agentNamePattern } from '../base/names.ts'
import { flag, oneOf, optional, seconds, setting } from './kinds.ts'

export const acknowledgementSettings = {
  ACK_TTL_ENABLED: setting({
    default: 'false',
    says: 'Whether overdue acknowledgements are looked for, and each is told in the log, once.',
    parse: flag,
  }),
  ACK_TTL_SECONDS: setting({
    default: '1800',
    says: 'After how long an acknowledgement is overdue.',
    parse: seconds,
  }),
  ACK_TTL_SCAN_INTERVAL_SECONDS: setting({
    default: '60',
    says: 'How often overdue acknowledgements are looked for.',
    parse: seconds,
  }),
  ACK_ESCALATION_ENABLED: setting({
    default: 'false',
    says: 'Whether an overdue acknowledgement is escalated, once. It does nothing without ACK_TTL_ENABLED.',
    parse: flag,
  }),
  ACK_ESCALATION_MODE: setting({
    default: 'log',
    says: 'How: `log` has the warning say so, `file_reservation` also reserves the inbox of whoever is late (`agents/<name>/inbox/**`).',
    parse: oneOf('log', 'file_reservation'),
  }),
  ACK_ESCALATION_CLAIM_TTL_SECONDS: setting({
    default: '3600',
    says: 'How long such a reservation lasts.',
    parse: seconds,
  }),
  ACK_ESCALATION_CLAIM_EXCLUSIVE: setting({
    default: 'false',
    says: 'Whether such a reservation is exclusive.',
    parse: flag,
  }),
  ACK_ESCALATION_CLAIM_HOLDER_NAME: setting({
    default: '',
    says: 'The agent that holds such reservations, made where it is missing; empty is whoever is late.',
    parse: (raw) => {
      if (raw !== '' && !agentNamePattern.test(raw)) throw new Error('must be the name of an agent')
      return optional(raw)
    },
  }),
} as const
