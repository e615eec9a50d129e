/** Codes that let their bearer log in at the pages: made by whoever can read the hub's secret, good once, for five minutes. */
import { createHmac, timingSafeEqual } from 'node:crypto'

const codeMs = 5 * 60_000

interface Login {
  readonly now: number
  /** Makes the code unique: the hub remembers the nonces of used codes. */
  readonly nonce: string
  /** The name of the person who logs in. */
  readonly name?: string | undefined
}

export interface LoginCode {
  readonly nonce: string
  readonly until: number
  readonly name: string | undefined
}

export function makeCode(secret: string, { now, nonce, name }: Login): string {
  const until = (now + codeMs).toString(36)
  const parts = name === undefined ? [nonce, until] : [nonce, until, encodeName(name)]
  return [...parts, markOf(secret, parts)].join('.')
}

/** Undefined for anything that is no code, or not good any more. */
export function readCode(secret: string, given: string, now: number): LoginCode | undefined {
  const parts = given.trim().split('.')
  const shown = Buffer.from(parts.pop() ?? '')
  const expected = Buffer.from(markOf(secret, parts))
  const [nonce = '', until = '', name] = parts
  const end = Number.parseInt(until, 36)
  if (parts.length > 3 || shown.length !== expected.length || !timingSafeEqual(shown, expected)) return undefined
  return end > now && end <= now + codeMs ? { nonce, until: end, name: decodeName(name) } : undefined
}

/** A name as a part of a code or cookie; the mark after it is what makes it true. */
export const encodeName = (name: string): string => Buffer.from(name).toString('base64url')
export const decodeName = (part: string | undefined): string | undefined =>
  part === undefined ? undefined : Buffer.from(part, 'base64url').toString()

const markOf = (secret: string, parts: readonly string[]): string =>
  createHmac('sha256', secret)
    .update(`web-code.${parts.join('.')}`)
    .digest('base64url')
    .slice(0, 22)
