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
export function createGuard({ host: bound, allowedHosts }: GuardOptions) {
  const names = new Set(['localhost', '127.0.0.1', '[::1]', ...[bound, ...allowedHosts].map(normal)])
  // Bound to every address, the server cannot know its own; a literal address is never a name that somebody rebinds.
  const isOurs = (name: string): boolean => names.has(name) || (wildcards.has(bound) && isAddress(name))
  // The same few values come with every request, and parsing one costs 1 µs.
  const good = new Map<string, string>()

  return (host: string | undefined, origin: string | undefined): void => {
    const name = good.get(host ?? '') ?? nameOf(`http://${host}`)
    if (host === undefined || name === undefined || !isOurs(name))
      throw new HubError('FORBIDDEN', 'The Host header does not name this server.', {
        hint: 'Call it by the address it listens on, or add the name to HTTP_ALLOWED_HOSTS.',
      })
    if (good.size < 100) good.set(host, name)
    if (origin === undefined) return
    // A page from this very address is ours; one from any other address is not, whatever we are bound to.
    const from = nameOf(origin)
    if (from === undefined || (from !== name && !names.has(from)))
      throw new HubError('FORBIDDEN', 'Requests from web pages of other sites are refused.')
  }
}

const nameOf = (url: string): string | undefined => URL.parse(url)?.hostname

const isAddress = (name: string): boolean => isIP(name.replace(/^\[|\]$/g, '')) !== 0

/** A host as a URL would write it. */
const normal = (host: string): string => nameOf(`http://${isIP(host) === 6 ? `[${host}]` : host}`) ?? host
