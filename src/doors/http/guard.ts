/** Keeps browsers of other sites out: the Host and Origin of a request must be ours (DNS rebinding). */
import { isIP } from 'node:net'
import { HubError } from '../../base/errors.ts'

export interface GuardOptions {
  /** The address the server is bound to. */
  readonly host: string
  /** Names under which it is reached besides, without ports. */
  readonly allowedHosts: readonly string[]
}

const wildcards = new Set(['0.0.0.0', '::', '[::]', ''])

/** Throws FORBIDDEN unless the request was meant for this server. */
export function createGuard({
  host,
  allowedHosts,
}: GuardOptions): (host: string | undefined, origin: string | undefined) => void {
  const names = new Set(['localhost', '127.0.0.1', '[::1]', ...[host, ...allowedHosts].map(normal)])
  // Bound to every address, the server cannot know its own; a literal address is never a name that somebody rebinds.
  const anyAddress = wildcards.has(host)
  const isOurs = (name: string | undefined): boolean =>
    name !== undefined && (names.has(name) || (anyAddress && isIP(name.replace(/^\[|\]$/g, '')) !== 0))
  // The same few values come with every request, and parsing one costs 1 µs.
  const good = new Set<string>()

  return (host, origin) => {
    if (host === undefined || !(good.has(host) || isOurs(nameOf(`http://${host}`))))
      throw new HubError('FORBIDDEN', 'The Host header does not name this server.', {
        hint: 'Call it by the address it listens on, or add the name to HTTP_ALLOWED_HOSTS.',
      })
    if (good.size < 100) good.add(host)
    if (origin !== undefined && !isOurs(nameOf(origin)))
      throw new HubError('FORBIDDEN', 'Requests from web pages of other sites are refused.')
  }
}

const normal = (name: string): string => (isIP(name) === 6 ? `[${name}]` : name.toLowerCase())

function nameOf(url: string): string | undefined {
  return URL.parse(url)?.hostname
}
