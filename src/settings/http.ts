/** Settings of the HTTP server: where it listens, and whom it answers. */
import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { count, flag, list, matching, number, optional, parsed, secretFault, text, visible } from './kinds.ts'

/** Paths of the other doors. */
const taken =
  /^\/(agents|bus|connections|docs|health|hub|inbox|join|mail|messages|metrics|openapi\.json|people|sessions|ws)(\/|$)/

function tokenFault(raw: string): string | undefined {
  const weak = secretFault(raw)
  return visible(raw) ?? (weak && `${weak}; \`parley token new\` makes one`)
}

export const httpSettings = {
  HTTP_HOST: text('127.0.0.1', matching(/^[A-Za-z0-9._:-]+$/, 'must be an address or a host name')).says(
    'Address that the HTTP server listens on. Set HTTP_BEARER_TOKEN too if it is not a loopback address.',
  ),
  HTTP_PORT: number(8765, { min: 0, max: 65535 }).says('Port that the HTTP server listens on; 0 takes any free one.'),
  HTTP_WORKERS: parsed('1', (raw) => {
    const workers = raw === 'auto' ? availableParallelism() : Number(raw)
    if (!Number.isInteger(workers) || workers < 1 || workers > 64)
      throw new Error('must be a whole number from 1 to 64, or auto')
    return workers
  }).says(
    'Processes that serve the port together, or `auto`: one for each core. They share its limits; each keeps DATABASE_POOL_SIZE connections of its own. A worker that dies is started again.',
  ),
  HTTP_SOCKET: parsed('', (raw) => {
    if (raw === '') return undefined
    if (!raw.startsWith('/') || Buffer.byteLength(raw) > 107)
      throw new Error('must be an absolute path of at most 107 bytes')
    return raw
  }).says(
    'Path of a Unix socket to listen on, in place of HTTP_HOST and HTTP_PORT. Its owner and its group may connect; all of them need credentials.',
  ),
  HTTP_TLS_CERT: optional().says(
    'File of the certificate, with its chain, to serve HTTPS without a proxy; read again on SIGHUP. Needs HTTP_TLS_KEY.',
  ),
  HTTP_TLS_KEY: optional().says('File of the private key of HTTP_TLS_CERT; read again on SIGHUP.'),
  HTTP_PATH: parsed('/mcp/', (raw) => {
    // A segment that begins with a dot is never asked for (`..`), or belongs to others (`.well-known`).
    if (raw.length > 200 || !/^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+\/?$/.test(raw))
      throw new Error('must be a path such as /mcp/')
    const path = raw.replace(/\/$/, '')
    if (taken.test(path)) throw new Error('must not be a path that Parley uses for something else')
    return path
  }).says('Path at which the mail door is served, with and without the slash at the end.'),
  HTTP_BASE_PATH: parsed('', (raw) => {
    const path = raw.replace(/\/$/, '')
    if (path === '') return ''
    if (path.length > 200 || !/^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/.test(path))
      throw new Error('must be a path such as /parley')
    if (taken.test(path)) throw new Error('must not be a path that Parley uses itself')
    return path
  }).says(
    'Path under which a proxy serves Parley, such as `/parley` for `https://example.org/parley/mail`; the proxy may pass it on or take it off. Pages, redirects, cookies and URLs then carry it. HTTP_PUBLIC_URL must end with it.',
  ),
  HTTP_BEARER_TOKEN: optional(tokenFault).secret(
    'Token of the operator, at least 16 characters and 8 different ones: a client that sends it as `Authorization: Bearer …` may act as any agent. Empty means that there is no operator.',
  ),
  HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: flag(true).says(
    'Whether callers on this machine need no credentials: requests from a loopback address, to a loopback name in `Host`, and without any header that a proxy sets (`Forwarded`, `Via`, `X-Forwarded-…`, `X-Real-IP` and their like). Set it to false behind a proxy that sets none.',
  ),
  HTTP_ALLOWED_HOSTS: list('', hostName).says(
    'Host names, separated by commas, that clients may use for this server besides its own address. Requests for any other host are refused, against DNS rebinding. Names only, without scheme or port.',
  ),
  HTTP_ALLOWED_ORIGINS: list('', origin).says(
    'Web sites, separated by commas and written like `https://name:port`, whose pages may call this server. A page needs no entry if its host and port are those it calls; pages of any other site are refused.',
  ),
  HTTP_TRUSTED_PROXIES: list('', network).says(
    'Addresses and networks, separated by commas, of your own proxies (`127.0.0.1, 10.0.0.0/8`); `unix` is whoever connects to HTTP_SOCKET. A request that comes from one counts for limits as of the client that `X-Forwarded-For` names; from any other address the header is not believed. Its `X-Forwarded-Proto` and `X-Forwarded-Host` (a name of HTTP_ALLOWED_HOSTS) count for the URLs in pages and metadata, too. None of them ever gives a right.',
  ),
  HTTP_WRONG_KEYS_PER_MINUTE: count(100).says(
    'Wrong keys or tokens that one address may send in a minute; further ones get 429 until the minute is over, and so does the correct token of the operator. 0 means no limit. Correct keys of agents are never delayed.',
  ),
  DRAIN_SECONDS: number(0, { min: 0, max: 300 }).says(
    'Seconds that a server told to stop goes on serving, while `/health/readiness` says 503: time for a load balancer to send its requests to other nodes. 5 is enough for most; 0 stops at once.',
  ),
  HTTP_REQUEST_LOG_ENABLED: flag(false).says(
    'Whether each HTTP request is logged at level info: method, path without its query, status and milliseconds. Otherwise it is logged at level debug.',
  ),
}

/** `URL` accepts a port, a user, or an address written as one number as a host: a name that it would change is not a plain one. */
function hostName(raw: string): string {
  const bare = raw.replace(/^\[(.*)\]$/, '$1')
  const read = URL.parse(`http://${isIP(bare) === 6 ? `[${bare}]` : bare}`)?.hostname
  const plain = isIP(bare) !== 0 || (/^[\p{L}\p{N}_-]+(\.[\p{L}\p{N}_-]+)*\.?$/u.test(bare) && isIP(read ?? '') === 0)
  if (read === undefined || !plain) throw new Error('must list host names such as hub.example, without scheme or port')
  return bare
}

function network(raw: string): string {
  if (raw === 'unix') return raw
  const [address = '', prefix, ...more] = raw.split('/')
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  const fits = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= most)
  if (most < 0 || !fits || more.length > 0)
    throw new Error('must list addresses or networks such as 10.0.0.1 or 10.0.0.0/8, or unix')
  return raw
}

export function origin(raw: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*]+$/i.test(raw) || URL.parse(raw) === null)
    throw new Error('must list origins such as https://hub.example:8443, without a path')
  return raw
}
