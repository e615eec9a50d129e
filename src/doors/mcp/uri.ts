/** URI templates of resources: `{name}` is one path segment, `{?a,b}` at the end are query parameters in any order, any subset. */

export interface UriTemplate {
  readonly variables: readonly string[]
  /** The variables that come in the query. */
  readonly parameters: readonly string[]
  /** The decoded variables, or undefined when the URI is not of this template. */
  match(uri: string): Record<string, string> | undefined
}

const shape = /^(?<base>[^?]*?)(?:\{\?(?<query>[\w,]+)\})?$/

/** The SDK's own template wants every query parameter, in order, and decodes nothing: hence this one. */
export function parseTemplate(template: string): UriTemplate {
  const { base = '', query } = shape.exec(template)?.groups ?? {}
  const names = [...base.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const literal = base.split(/\{\w+\}/)
  if (base === '' || literal.some((part) => /[{}]/.test(part))) throw new Error(`Not a URI template: ${template}`)
  const pattern = new RegExp(`^${literal.map(quote).join('([^/?#]+)')}$`)
  const allowed = new Set(query?.split(','))

  return {
    variables: [...names, ...allowed],
    parameters: [...allowed],
    match(uri) {
      const mark = uri.indexOf('?')
      const found = pattern.exec(mark < 0 ? uri : uri.slice(0, mark))
      if (found === null) return undefined
      const values: Record<string, string> = {}
      for (const [index, name] of names.entries()) {
        const value = decode(found[index + 1] ?? '')
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

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined // a broken escape names nothing
  }
}

const quote = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
