/** The settings of mail: contacts, names, acknowledgements, leases, retention, quota, the language model, the log of tools. */
import { flag, list, number, oneOf, optional, setting, text } from './kinds.ts'

const seconds = number({ min: 1, max: 10 * 365 * 86400 })
const count = number({ min: 0, max: Number.MAX_SAFE_INTEGER })

export const mailSettings = {
  AGENT_NAME_ENFORCEMENT_MODE: setting({
    default: 'coerce',
    says: 'What register_agent does with a name that is not two capitalised words (`GreenCastle`): `strict` refuses it, `coerce` generates another, `always_auto` generates every name.',
    parse: oneOf('strict', 'coerce', 'always_auto'),
  }),
  CONTACT_ENFORCEMENT_ENABLED: setting({
    default: 'true',
    says: 'Whether contact policies are asked before a message is delivered.',
    parse: flag,
  }),
  CONTACT_AUTO_TTL_SECONDS: setting({
    default: '86400',
    says: 'How long a contact lasts that was made by itself, and how long a message counts as recent contact.',
    parse: seconds,
  }),
  CONTACT_AUTO_RETRY_ENABLED: setting({
    default: 'true',
    says: 'Whether a send that had to make contact first goes on in the same call.',
    parse: flag,
  }),
  MESSAGING_AUTO_REGISTER_RECIPIENTS: setting({
    default: 'true',
    says: 'Whether mail to a name that nobody has yet makes that agent.',
    parse: flag,
  }),
  MESSAGING_AUTO_HANDSHAKE_ON_BLOCK: setting({
    default: 'true',
    says: 'Whether contact is made by itself where a policy wants it first; `contacts_only` and `block_all` still hold.',
    parse: flag,
  }),
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
      if (raw !== '' && !/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(raw)) throw new Error('must be the name of an agent')
      return optional(raw)
    },
  }),
  FILE_RESERVATIONS_CLEANUP_ENABLED: setting({
    default: 'false',
    says: 'Whether expired reservations are marked as released. They count as free either way.',
    parse: flag,
  }),
  FILE_RESERVATIONS_CLEANUP_INTERVAL_SECONDS: setting({
    default: '60',
    says: 'How often that is done.',
    parse: seconds,
  }),
  RETENTION_REPORT_ENABLED: setting({
    default: 'false',
    says: 'Whether the log tells from time to time how much mail each project holds, how much of it is old, and whose inbox is full. Nothing is deleted.',
    parse: flag,
  }),
  RETENTION_REPORT_INTERVAL_SECONDS: setting({
    default: '3600',
    says: 'How often it does.',
    parse: seconds,
  }),
  RETENTION_MAX_AGE_DAYS: setting({
    default: '180',
    says: 'From what age mail counts as old.',
    parse: number({ min: 1, max: 36500 }),
  }),
  RETENTION_IGNORE_PROJECT_PATTERNS: setting({
    default: 'demo,test*,testproj*,testproject,backendproj*,frontendproj*',
    says: 'Projects (by slug, with or without the hash at its end; `*` is anything) that the report leaves out, parted by commas.',
    parse: list,
  }),
  QUOTA_ENABLED: setting({
    default: 'false',
    says: 'Whether the quota below is enforced.',
    parse: flag,
  }),
  QUOTA_INBOX_LIMIT_COUNT: setting({
    default: '0',
    says: 'How many messages, read or not, an inbox may hold; the next is refused with QUOTA_EXCEEDED. 0 is any number.',
    parse: count,
  }),
  LLM_ENABLED: setting({
    default: 'true',
    says: 'Whether summaries are refined by a language model. Without LLM_BASE_URL it does nothing.',
    parse: flag,
  }),
  LLM_BASE_URL: setting({
    default: '',
    says: 'An endpoint that speaks the OpenAI API, such as `https://api.openai.com/v1`.',
    parse: (raw) => {
      if (raw !== '' && !/^https?:\/\/[^\s@]+$/.test(raw))
        throw new Error('must be an http or https URL without a user')
      return optional(raw.replace(/\/+$/, ''))
    },
  }),
  LLM_API_KEY: setting({ default: '', says: 'The key for that endpoint.', secret: true, parse: optional }),
  LLM_DEFAULT_MODEL: setting({ default: 'gpt-5-mini', says: 'The model to ask.', parse: text }),
  LLM_TEMPERATURE: setting({
    default: '0.2',
    says: 'How freely it may write.',
    parse: number({ min: 0, max: 2, whole: false }),
  }),
  LLM_MAX_TOKENS: setting({
    default: '512',
    says: 'How long an answer of it may be.',
    parse: number({ min: 1, max: 1_000_000 }),
  }),
  LLM_CACHE_ENABLED: setting({
    default: 'true',
    says: 'Whether the same question is asked only once, as long as the process lives.',
    parse: flag,
  }),
  LLM_COST_LOGGING_ENABLED: setting({
    default: 'true',
    says: 'Whether the log tells how many tokens each answer took.',
    parse: flag,
  }),
  TOOLS_LOG_ENABLED: setting({
    default: 'true',
    says: 'Whether calls of tools are noted: a line each at LOG_LEVEL debug, and in `resource://tooling/recent`.',
    parse: flag,
  }),
  TOOL_METRICS_EMIT_ENABLED: setting({
    default: 'false',
    says: 'Whether the log tells from time to time how often each tool was called and failed.',
    parse: flag,
  }),
  TOOL_METRICS_EMIT_INTERVAL_SECONDS: setting({
    default: '60',
    says: 'How often it does.',
    parse: seconds,
  }),
} as const
