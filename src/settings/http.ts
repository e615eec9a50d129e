/** Settings of the HTTP server: where it listens, and whom it answers. */
import { isIP } from 'node:net'
import { count, flag, list, number, optional, setting } from './kinds.ts'

/** What is, or will be, at other paths. */
const taken = /^\/(agents|bus|connections|docs|health|hub|inbox|mail|messages|metrics|openapi\.json|sessions|ws)(\/|$)/

export const httpSettings = {
  HTTP_HOST: setting({
    default: '127.0.0.1',
    says: 'Address that the HTTP server listens on. Set HTTP_BEARER_TOKEN too if it is not a loopback address.',
    parse: (raw) => {
      if (!/^[A-Za-z0-9._:-]+$/.test(raw)) throw new Error('must be an address or a host name')
      return raw
    },
  }),
  HTTP_PORT: setting({
    default: '8765',
    says: 'Port that the HTTP server listens on; 0 takes any free one.',
    parse: number({ min: 0, max: 65535 }),
  }),
  HTTP_PATH: setting({
    default: '/mcp/',
    says: 'Path at which the mail door is served, with and without the slash at the end.',
    parse: (raw) => {
      // A segment that begins with a dot is never asked for (`..`), or belongs to others (`.well-known`).
      if (raw.length > 200 || !/^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+\/?$/.test(raw))
        throw new Error('must be a path such as /mcp/')
      const path = raw.replace(/\/$/, '')
      if (taken.test(path)) throw new Error('must not be a path that Parley serves something else at')
      return path
    },
  }),
  HTTP_BEARER_TOKEN: setting({
    default: '',
    says: 'Token of the operator: a client that sends it as `Authorization: Bearer …` may act as any agent. Empty means that there is no operator.',
    secret: true,
    parse: (raw) => {
      if (raw !== '' && !/^[\x21-\x7e]+$/.test(raw)) throw new Error('must be visible ASCII characters without spaces')
      return optional(raw)
    },
  }),
  HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: setting({
    default: 'true',
    says: 'Whether callers on this machine need no credentials: requests from a loopback address, to a loopback name in `Host`, and without any header that a proxy sets (`Forwarded`, `Via`, `X-Forwarded-…`, `X-Real-IP` and their like). Set it to false behind a proxy that sets none.',
    parse: flag,
  }),
  HTTP_ALLOWED_HOSTS: setting({
    default: '',
    says: 'Host names, separated by commas, that clients may use for this server besides its own address. Requests for any other host are refused, against DNS rebinding. Names only, without scheme or port.',
    parse: (raw) => list(raw).map(hostName),
  }),
  HTTP_ALLOWED_ORIGINS: setting({
    default: '',
    says: 'Web sites, separated by commas and written like `https://name:port`, whose pages may call this server. A page needs no entry if its host and port are those it calls; pages of any other site are refused.',
    parse: (raw) => list(raw).map(origin),
  }),
  HTTP_WRONG_KEYS_PER_MINUTE: setting({
    default: '100',
    says: 'Wrong keys or tokens that one address may send in a minute; more of them are answered with 429 until the minute is over. 0 is no limit, and good ones are never held up.',
    parse: count,
  }),
  HTTP_REQUEST_LOG_ENABLED: setting({
    default: 'false',
    says: 'Whether each HTTP request is logged at level info: method, path without its query, status and milliseconds. Otherwise it is logged at level debug.',
    parse: flag,
  }),
} as const

/** A URL takes much for a host: a port, a user, an address written as one number. What it would change is not a plain name. */
function hostName(raw: string): string {
  const bare = raw.replace(/^\[(.*)\]$/, '$1')
  const read = URL.parse(`http://${isIP(bare) === 6 ? `[${bare}]` : bare}`)?.hostname
  const plain = isIP(bare) !== 0 || (/^[\p{L}\p{N}_-]+(\.[\p{L}\p{N}_-]+)*\.?$/u.test(bare) && isIP(read ?? '') === 0)
  if (read === undefined || !plain) throw new Error('must list host names such as hub.example, without scheme or port')
  return bare
}

export function origin(raw: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*]+$/i.test(raw) || URL.parse(raw) === null)
    throw new Error('must list origins such as https://hub.example:8443, without a path')
  return raw
}
