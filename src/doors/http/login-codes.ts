/** Codes that let their bearer log in at the pages: made by whoever can read the hub's secret, good once, for five minutes. */
import { createHmac, timingSafeEqual } from 'node:crypto'

const codeMs = 5 * 60_000

interface Moment {
  readonly now: number
  /** Makes the code unique: the hub remembers the nonces of used codes. */
  readonly nonce: string
}

export function makeCode(secret: string, { now, nonce }: Moment): string {
  const until = (now + codeMs).toString(36)
  return `${nonce}.${until}.${markOf(secret, nonce, until)}`
}

/** Undefined for anything that is no code, or not good any more. */
export function readCode(secret: string, given: string, now: number): { nonce: string; until: number } | undefined {
  const [nonce = '', until = '', mark = '', ...rest] = given.trim().split('.')
  const end = Number.parseInt(until, 36)
  const expected = Buffer.from(markOf(secret, nonce, until))
  const shown = Buffer.from(mark)
  if (rest.length > 0 || shown.length !== expected.length || !timingSafeEqual(shown, expected)) return undefined
  return end > now && end <= now + codeMs ? { nonce, until: end } : undefined
}

const markOf = (secret: string, nonce: string, until: string): string =>
  createHmac('sha256', secret).update(`web-code.${nonce}.${until}`).digest('base64url').slice(0, 22)
