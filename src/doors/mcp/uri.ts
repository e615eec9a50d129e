/** URI templates of resources: `{name}` is one path segment, `{/name}` one that may be left out, `{?a,b}` at the end are query parameters in any order, any subset. */

export interface UriTemplate {
  readonly uri: string
  readonly variables: readonly string[]
  /** The variables that come in the query. */
  readonly parameters: readonly string[]
  /** The decoded variables, or undefined when the URI is not of this template. */
  match(uri: string): Record<string, string> | undefined
}

const segment = /\{\/?\w+\}/g
const shape = /^(?<base>[^?]*?)(?:\{\?(?<query>[\w,]+)\})?$/

/** The SDK's own template wants every query parameter, in order, and decodes nothing: hence this one. */
export function parseTemplate(template: string): UriTemplate {
  const { base = '', query } = shape.exec(template)?.groups ?? {}
  const segments = base.match(segment) ?? []
  const names = segments.map((written) => written.replace(/\W/g, ''))
  const literal = base.split(segment)
  if (base === '' || literal.some((part) => /[{}]/.test(part))) throw new Error(`Not a URI template: ${template}`)
  const parts = literal.map((part, index) => quote(part) + pathPattern(segments[index]))
  const pattern = new RegExp(`^${parts.join('')}$`)
  const allowed = new Set(query?.split(','))

  return {
    uri: template,
    variables: [...names, ...allowed],
    parameters: [...allowed],
    match(uri) {
      const mark = uri.indexOf('?')
      const found = pattern.exec(mark < 0 ? uri : uri.slice(0, mark))
      if (found === null) return undefined
      const values: Record<string, string> = {}
      for (const [index, name] of names.entries()) {
        const written = found[index + 1]
        if (written === undefined) continue
        const value = decode(written)
        if (value === undefined) return undefined
        values[name] = value
      }
      if (mark < 0) return values
      for (const [name, value] of new URLSearchParams(uri.slice(mark + 1))) {
        if (!allowed.has(name)) return undefined
        values[name] = value
      }
      return values
    },
  }
}

export const isTemplate = (uri: string): boolean => uri.includes('{')

function pathPattern(segment: string | undefined): string {
  if (segment === undefined) return ''
  return segment.startsWith('{/') ? '(?:/([^/?#]+))?' : '([^/?#]+)'
}

/** The template with these segments of its path written as ones that may be left out. */
export const withoutNeed = (template: string, names: readonly string[]): string =>
  names.reduce((text, name) => text.replace(`/{${name}}`, `{/${name}}`), template)

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined // a broken escape names nothing
  }
}

const quote = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
