/** Keeps browsers of other sites out: the Host and Origin of a request must be ours (DNS rebinding). */
import { isIP } from 'node:net'
import { HubError } from '../../base/errors.ts'

export interface GuardOptions {
  /** The address the server is bound to. */
  readonly host: string
  /** Names under which it is reached besides, without ports. */
  readonly allowedHosts: readonly string[]
  /** Origins of other sites whose pages may call it, as `https://name:port`. */
  readonly allowedOrigins: readonly string[]
  /** Pages of every site may call it, but never as a caller on this machine. */
  readonly everyOrigin?: boolean
}

/** The part of a request that the guard looks at. */
export interface Addressed {
  readonly headers: { readonly host?: string | undefined; readonly origin?: string | undefined }
  /** Names at the even places, as node:http has them. */
  readonly rawHeaders: readonly string[]
}

const wildcards = new Set(['0.0.0.0', '::', '[::]', ''])
const loopbackNames = ['localhost', '127.0.0.1', '[::1]']

type Names = Pick<GuardOptions, 'host' | 'allowedHosts'>

/** Bound to every address, the server cannot know its own; a literal address is never a name that somebody rebinds. */
function ownNames({ host: bound, allowedHosts }: Names): (name: string) => boolean {
  const names = new Set([...loopbackNames, ...[bound, ...allowedHosts].map(normal)])
  return (name) => names.has(name) || (wildcards.has(bound) && isAddress(name))
}

/** Whether a host, as a header has it, is one of this server. */
export function createIsOurs(options: Names): (host: string) => boolean {
  const isOurs = ownNames(options)
  return (host) => {
    const name = /[/?#@\\]/.test(host) ? undefined : nameOf(`http://${host}`)
    return name !== undefined && isOurs(name)
  }
}

/** Throws unless the request was meant for this server; answers whether it named it by a loopback name. */
export function createGuard({ host: bound, allowedHosts, allowedOrigins, everyOrigin }: GuardOptions) {
  const isOurs = ownNames({ host: bound, allowedHosts })
  const origins = new Set(allowedOrigins.map(normalOrigin))
  // The same few values come with every request, and parsing one costs 1 µs.
  const good = new Map<string, { readonly loopback: boolean }>()

  return ({ headers, rawHeaders }: Addressed): boolean => {
    const { host, origin } = headers
    if (hasTwoHosts(rawHeaders)) throw new HubError('INVALID_ARGUMENT', 'A request must have exactly one Host header.')
    const known = good.get(host ?? '') ?? readHost(host)
    if (host === undefined || known === undefined)
      throw new HubError('FORBIDDEN', 'The Host header does not name this server.', {
        hint: 'Call it by the address it listens on. A server that others reach by a name needs HTTP_PUBLIC_URL=https://that.name; further names go into HTTP_ALLOWED_HOSTS.',
      })
    if (good.size < 100) good.set(host, known)
    if (origin === undefined || isSameSite(host, origin) || origins.has(normalOrigin(origin))) return known.loopback
    if (!everyOrigin)
      throw new HubError('FORBIDDEN', 'Requests from web pages of other sites are refused.', {
        hint: 'HTTP_ALLOWED_ORIGINS lists the sites whose pages may call this server.',
      })
    return false
  }

  function readHost(host: string | undefined): { loopback: boolean } | undefined {
    const name = nameOf(`http://${host}`)
    return host === undefined || name === undefined || !isOurs(name) ? undefined : { loopback: isLoopbackName(name) }
  }
}

/**
 * Whether a page of `origin` has the host and port that it calls (all.http.same-origin). Behind a proxy with TLS the page's
 * scheme is another one than ours: a port that is not written is the usual one of the page's scheme, on both sides.
 */
export function isSameSite(host: string, origin: string): boolean {
  const from = /^https?:\/\/[^/?#@\\]+$/i.test(origin) ? URL.parse(origin) : null
  const to = from && URL.parse(`${from.protocol}//${host}`)
  if (from === null || to === null || from.port !== to.port) return false
  return from.hostname === to.hostname || (isLoopbackName(from.hostname) && isLoopbackName(to.hostname))
}

/** node:http keeps the first and drops the others; a proxy in front may have looked at the last. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts > 1
}

/** A name of this machine that no other machine has, as a URL writes it. */
const isLoopbackName = (name: string): boolean => loopbackNames.includes(name) || /^127(?:\.\d+){3}$/.test(name)

const nameOf = (url: string): string | undefined => URL.parse(url)?.hostname

const isAddress = (name: string): boolean => isIP(name.replace(/^\[|\]$/g, '')) !== 0

/** A host as a URL would write it. */
const normal = (host: string): string => nameOf(`http://${isIP(host) === 6 ? `[${host}]` : host}`) ?? host

/** An origin as a browser would write it; that of an extension has no such form in a URL. */
export function normalOrigin(origin: string): string {
  const read = URL.parse(origin)?.origin
  return read === undefined || read === 'null' ? origin.toLowerCase() : read
}
