/** Settings of MCP sessions: the key that signs their ids, and how long an id is good. */
import { optional, seconds, secretFault } from './kinds.ts'

export const sessionSettings = {
  SECRET_KEY: optional(secretFault).secret(
    'Key that signs session ids, at least 16 characters and 8 different ones; several nodes need the same one. Empty means a key that the first start makes and keeps in STORAGE_ROOT.',
  ),
  SESSION_TTL_SECONDS: seconds(604800).says('Seconds for which an MCP session id is honoured after it was issued.'),
}
