/** Cookies of a visitor: reading those of a request, and writing one that no page of another site can send along. */

/** The first of a name counts. */
export function readCookies(header: string | undefined): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>()
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=')
    const name = part.slice(0, at).trim()
    if (at > 0 && !cookies.has(name)) cookies.set(name, part.slice(at + 1).trim())
  }
  return cookies
}

interface CookieOptions {
  /** Seconds that it lasts; until the browser is closed, if left out. */
  readonly maxAge?: number
  /** Whether the browser came by TLS: then it is never sent without. */
  readonly secure: boolean
}

export function cookie(name: string, value: string, { maxAge, secure }: CookieOptions): string {
  const parts = [`${name}=${value}`, 'Path=/mail', 'HttpOnly', 'SameSite=Strict']
  if (maxAge !== undefined) parts.push(`Max-Age=${maxAge}`)
  if (secure) parts.push('Secure')
  return parts.join('; ')
}
