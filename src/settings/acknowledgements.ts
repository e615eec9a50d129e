/** Settings of acknowledgements: when one is overdue, and what happens then. */
import { agentNamePattern } from '../base/names.ts'
import { flag, matching, oneOf, optional, seconds } from './kinds.ts'

export const acknowledgementSettings = {
  ACK_TTL_ENABLED: flag(false).says('Whether Parley looks for overdue acknowledgements and logs each of them once.'),
  ACK_TTL_SECONDS: seconds(1800).says('Seconds after which a requested acknowledgement is overdue.'),
  ACK_TTL_SCAN_INTERVAL_SECONDS: seconds(60).says('Seconds between two searches for overdue acknowledgements.'),
  ACK_ESCALATION_ENABLED: flag(false).says(
    'Whether an overdue acknowledgement is escalated, once, as ACK_ESCALATION_MODE says; needs ACK_TTL_ENABLED.',
  ),
  ACK_ESCALATION_MODE: oneOf(['log', 'file_reservation'], 'log').says(
    'Form of an escalation: `log` marks the warning in the log as escalated, `file_reservation` also reserves the inbox of the late agent (`agents/<name>/inbox/**`).',
  ),
  ACK_ESCALATION_CLAIM_TTL_SECONDS: seconds(3600).says(
    'Seconds for which an escalation reserves the inbox of the late agent.',
  ),
  ACK_ESCALATION_CLAIM_EXCLUSIVE: flag(false).says(
    'Whether an escalation reserves the inbox of the late agent exclusively.',
  ),
  ACK_ESCALATION_CLAIM_HOLDER_NAME: optional(matching(agentNamePattern, 'must be the name of an agent')).says(
    'Agent that holds the reservations made by escalations, created in each project where it is missing. Empty means the late agent.',
  ),
}
