/** Ids that nobody can guess and that sort by the time they were made. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from './clock.ts'

export interface Ids {
  /** A UUID of version 7: new rows land at the end of their index, which keeps a commit small. */
  uuid(): string
  /** 16 letters and digits that sort by time, for ids that models read and people type. */
  short(): string
  /** A secret of 128 bits, for the proof of a loan, and for nonces. */
  token(): string
  /** 256 bits as 64 hexadecimal digits, for keys that live long. */
  secret(): string
  /** A whole number from 0 to below `count`, each as likely as the others. */
  below(count: number): number
}

export function createIds(clock: Clock): Ids {
  let last = 0
  let count = 0
  return {
    uuid() {
      const now = clock.now()
      // 12 bits count within a millisecond (RFC 9562 §6.2, method 1); past them the time runs ahead a little.
      if (now > last) {
        last = now
        count = 0
      } else if (++count > 0xfff) {
        last++
        count = 0
      }
      const time = last.toString(16).padStart(12, '0')
      // Node draws the random bytes of its own UUIDs ahead, many at a time: one call to the system for each took 8 of 200 µs of a send.
      const random = randomUUID().slice(-17)
      return `${time.slice(0, 8)}-${time.slice(8)}-7${count.toString(16).padStart(3, '0')}-${random}`
    },
    short() {
      let text = Math.max(clock.now(), 0).toString(32).padStart(9, '0')
      for (const byte of randomBytes(7)) text += digits[byte & 31]
      return text
    },
    token: () => randomBytes(16).toString('base64url'),
    secret: () => randomBytes(32).toString('hex'),
    // 48 bits: what the remainder prefers is beyond noticing.
    below: (count) => randomBytes(6).readUIntBE(0, 6) % count,
  }
}

/** The UUID of a name in a namespace (32 hexadecimal digits): always the same one (RFC 9562 §5.5, version 5). */
export function uuidOfName(namespace: string, name: string): string {
  const hash = createHash('sha1').update(Buffer.from(namespace, 'hex')).update(name).digest().subarray(0, 16)
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

const digits = '0123456789abcdefghijklmnopqrstuv'
