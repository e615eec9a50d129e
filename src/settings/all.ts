/** Every setting there is, by subject. docs/settings.md and .env.example are made from these tables. */
import { acknowledgementSettings } from './acknowledgements.ts'
import { agentSettings } from './agents.ts'
import { archiveSettings } from './archive.ts'
import { attachmentSettings } from './attachments.ts'
import { contactSettings } from './contacts.ts'
import { corsSettings } from './cors.ts'
import { httpSettings } from './http.ts'
import { inboxSettings } from './inboxes.ts'
import { installationSettings } from './installation.ts'
import { leaseSettings } from './leases.ts'
import { llmSettings } from './llm.ts'
import { logSettings } from './log.ts'
import { mailboxClientSettings } from './mailbox-client.ts'
import { metricsSettings } from './metrics.ts'
import { postSettings } from './post.ts'
import { rateLimitSettings } from './rate-limits.ts'
import { retentionSettings } from './retention.ts'
import { sessionSettings } from './sessions.ts'
import { signInSettings } from './sign-in.ts'
import { storageSettings } from './storage.ts'
import { toolSettings } from './tools.ts'
import { tracingSettings } from './tracing.ts'
import { wakingSettings } from './waking.ts'

/** The headings of docs/settings.md, in its order. */
export const subjects = {
  Installation: installationSettings,
  Storage: storageSettings,
  'HTTP server': httpSettings,
  'Signing in': signInSettings,
  'Rate limits': rateLimitSettings,
  'Cross-origin requests': corsSettings,
  Sessions: sessionSettings,
  'Tool calls': toolSettings,
  Agents: agentSettings,
  Contacts: contactSettings,
  'Post door': postSettings,
  Inboxes: inboxSettings,
  Waking: wakingSettings,
  Attachments: attachmentSettings,
  Acknowledgements: acknowledgementSettings,
  'File reservations': leaseSettings,
  Archive: archiveSettings,
  'Retention report': retentionSettings,
  'Language model': llmSettings,
  'Client of the post door (`parley mailbox`) and OpenClaw bridge': mailboxClientSettings,
  Log: logSettings,
  Metrics: metricsSettings,
  Traces: tracingSettings,
} as const

/** All tables as one: a function that takes any of them needs an argument with the rows of all. */
type Joined<Table> = (Table extends unknown ? (table: Table) => void : never) extends (table: infer All) => void
  ? All
  : never

type Settings = Joined<(typeof subjects)[keyof typeof subjects]>

export const settings: Settings = Object.assign({}, ...Object.values(subjects))

export type Config = { readonly [Name in keyof Settings]: ReturnType<Settings[Name]['parse']> }
