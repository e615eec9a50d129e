/** Settings of MCP sessions: the key that signs their ids, and how long an id is good. */
import { optional, seconds, setting } from './kinds.ts'

export const sessionSettings = {
  SECRET_KEY: setting({
    default: '',
    says: 'What Parley signs session ids with. Empty: a key made on the first start and kept in STORAGE_ROOT. Several nodes need the same one.',
    secret: true,
    parse: (raw) => {
      if (raw !== '' && raw.length < 16) throw new Error('must have at least 16 characters')
      return optional(raw)
    },
  }),
  SESSION_TTL_SECONDS: setting({
    default: '604800',
    says: 'How long an MCP session id is honoured.',
    parse: seconds,
  }),
} as const
