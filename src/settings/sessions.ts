/** Settings of MCP sessions: the key that signs their ids, and how long an id is good. */
import { optional, seconds } from './kinds.ts'

/** A guessed key forges the session of anybody: one that is short, plain or copied from an example is refused (serve.secret.weak). */
export function signingKeyFault(key: string): string | undefined {
  if (key.length < 16) return 'must have at least 16 characters'
  if (new Set(key).size < 8) return 'must have at least 8 different characters'
  return /change.?(?:me|this)|your.?secret/i.test(key) ? 'must be a key of your own, not that of an example' : undefined
}

export const sessionSettings = {
  SECRET_KEY: optional(signingKeyFault).secret(
    'Key that signs session ids, at least 16 characters and 8 different ones; several nodes need the same one. Empty means a key that the first start makes and keeps in STORAGE_ROOT.',
  ),
  SESSION_TTL_SECONDS: seconds(604800).says('Seconds for which an MCP session id is honoured after it was issued.'),
}
