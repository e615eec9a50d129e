/** Text that a client is given and brings back: signed, so that it comes back as it was written. */
import { createHmac, timingSafeEqual } from 'node:crypto'

export interface Seal<Value> {
  write(value: Value): string
  /** Undefined for text that this seal has not written. */
  read(text: string): Value | undefined
}

/** `use` keeps what is sealed for one purpose from being taken for another. */
export function createSeal<Value>(secret: string | Buffer, use: string): Seal<Value> {
  const sign = (body: string): string => createHmac('sha256', secret).update(`${use}.`).update(body).digest('base64url')
  return {
    write(value) {
      const body = Buffer.from(JSON.stringify(value)).toString('base64url')
      return `${body}.${sign(body)}`
    },
    read(text) {
      const dot = text.indexOf('.')
      if (dot < 0) return undefined
      const body = text.slice(0, dot)
      const given = Buffer.from(text.slice(dot + 1))
      const proper = Buffer.from(sign(body))
      if (given.length !== proper.length || !timingSafeEqual(given, proper)) return undefined
      return JSON.parse(Buffer.from(body, 'base64url').toString()) as Value
    },
  }
}
