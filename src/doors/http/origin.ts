/** The URL by which the client of a request reaches this server: for links, cookies, metadata and invitations. */
import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import type { TrustsProxy } from './client-address.ts'

export interface OriginOptions {
  /** The URL that clients know the server by; else each request's own. */
  readonly publicUrl?: string | undefined
  /** The path below which the server is served, as `/parley`; empty for none. */
  readonly basePath?: string
}

interface Judging extends OriginOptions {
  readonly trusts: TrustsProxy
  /** Whether a host, with or without a port, is one of this server's own. */
  isOurs(host: string): boolean
}

/** The last value: the one that the nearest proxy has added. */
const lastOf = (header: string | string[] | undefined): string =>
  String(header ?? '')
    .split(',')
    .at(-1)
    ?.trim() ?? ''

/** Of headers that name another scheme or host, only those of trusted proxies count, and only hosts of our own. */
export function createOrigin({ publicUrl, basePath = '', trusts, isOurs }: Judging) {
  const isSecure = (raw: IncomingMessage): boolean =>
    (raw.socket as Partial<TLSSocket>).encrypted === true ||
    (trusts(raw) && lastOf(raw.headers['x-forwarded-proto']) === 'https')
  return {
    /** Whether the client came by TLS. */
    isSecure,
    originOf(raw: IncomingMessage): string {
      if (publicUrl !== undefined) return publicUrl
      const forwarded = trusts(raw) ? lastOf(raw.headers['x-forwarded-host']) : ''
      const host = forwarded !== '' && isOurs(forwarded) ? forwarded : (raw.headers.host ?? 'localhost')
      return `${isSecure(raw) ? 'https' : 'http'}://${host}${basePath}`
    },
  }
}
