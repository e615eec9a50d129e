/** Settings of MCP sessions: the key that signs their ids, and how long an id is good. */
import { optional, seconds, setting } from './kinds.ts'

export const sessionSettings = {
  SECRET_KEY: setting({
    default: '',
    says: 'Key that signs session ids, at least 16 characters; several nodes need the same one. Empty means a key that the first start makes and keeps in STORAGE_ROOT.',
    secret: true,
    parse: (raw) => {
      if (raw !== '' && raw.length < 16) throw new Error('must have at least 16 characters')
      return optional(raw)
    },
  }),
  SESSION_TTL_SECONDS: setting({
    default: '604800',
    says: 'Seconds for which an MCP session id is honoured after it was issued.',
    parse: seconds,
  }),
} as const
