/** Settings of acknowledgements: when one is overdue, and what happens then. */
import { agentNamePattern } from '../base/names.ts'
import { flag, oneOf, optional, seconds, setting } from './kinds.ts'

export const acknowledgementSettings = {
  ACK_TTL_ENABLED: setting({
    default: 'false',
    says: 'Whether Parley looks for overdue acknowledgements and logs each of them once.',
    parse: flag,
  }),
  ACK_TTL_SECONDS: setting({
    default: '1800',
    says: 'Seconds after which a requested acknowledgement is overdue.',
    parse: seconds,
  }),
  ACK_TTL_SCAN_INTERVAL_SECONDS: setting({
    default: '60',
    says: 'Seconds between two searches for overdue acknowledgements.',
    parse: seconds,
  }),
  ACK_ESCALATION_ENABLED: setting({
    default: 'false',
    says: 'Whether an overdue acknowledgement is escalated, once, as ACK_ESCALATION_MODE says; needs ACK_TTL_ENABLED.',
    parse: flag,
  }),
  ACK_ESCALATION_MODE: setting({
    default: 'log',
    says: 'Form of an escalation: `log` marks the warning in the log as escalated, `file_reservation` also reserves the inbox of the late agent (`agents/<name>/inbox/**`).',
    parse: oneOf('log', 'file_reservation'),
  }),
  ACK_ESCALATION_CLAIM_TTL_SECONDS: setting({
    default: '3600',
    says: 'Seconds for which an escalation reserves the inbox of the late agent.',
    parse: seconds,
  }),
  ACK_ESCALATION_CLAIM_EXCLUSIVE: setting({
    default: 'false',
    says: 'Whether an escalation reserves the inbox of the late agent exclusively.',
    parse: flag,
  }),
  ACK_ESCALATION_CLAIM_HOLDER_NAME: setting({
    default: '',
    says: 'Agent that holds the reservations made by escalations, created in each project where it is missing. Empty means the late agent.',
    parse: (raw) => {
      if (raw !== '' && !agentNamePattern.test(raw)) throw new Error('must be the name of an agent')
      return optional(raw)
    },
  }),
} as const
