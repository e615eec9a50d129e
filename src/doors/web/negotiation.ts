/** In which form an answer is wanted: a page for people, JSON for programs, text for both. */
import type { IncomingHttpHeaders } from 'node:http'

type Form = 'html' | 'json' | 'md'

export function formOf(headers: IncomingHttpHeaders, query: URLSearchParams): Form {
  const format = query.get('format')
  if (format === 'json' || format === 'md' || format === 'html') return format
  return prefersJson(headers.accept) ? 'json' : 'html'
}

/** A browser names HTML first; whoever names JSON and no HTML, or JSON as better, gets it. */
function prefersJson(accept: string | undefined): boolean {
  if (accept === undefined || !accept.includes('json')) return false
  const weights = new Map<string, number>()
  for (const part of accept.split(',')) {
    const [type = '', ...rest] = part.split(';').map((word) => word.trim().toLowerCase())
    const q = rest.find((word) => word.startsWith('q='))
    weights.set(type, q === undefined ? 1 : Number(q.slice(2)) || 0)
  }
  return (weights.get('application/json') ?? 0) > (weights.get('text/html') ?? 0)
}

/** Whether a person sits there: somebody to lead to a login. */
export const isBrowser = ({ accept }: IncomingHttpHeaders): boolean => accept?.includes('text/html') === true

type Encoding = 'br' | 'gzip'

export function encodingOf(headers: IncomingHttpHeaders): Encoding | undefined {
  const accepted = headers['accept-encoding']
  if (typeof accepted !== 'string') return undefined
  const names = accepted
    .split(',')
    .map((part) => part.trim().toLowerCase())
    .filter((part) => !/;\s*q=0(\.0*)?$/.test(part))
    .map((part) => part.split(';', 1)[0])
  return names.includes('br') ? 'br' : names.includes('gzip') ? 'gzip' : undefined
}
