/** Serving below a path (HTTP_BASE_PATH): it is taken off every request, and put before the paths of answers. */
import type { FastifyInstance } from 'fastify'

/** `/parley/mail` is `/mail`; without the base path, as a proxy may have taken it off, it stays as it is. */
export function withoutBase(url: string, base: string): string {
  if (base === '' || !url.startsWith(base)) return url
  const rest = url.slice(base.length)
  if (rest === '' || rest.startsWith('?')) return `/${rest}`
  return rest.startsWith('/') ? rest : url
}

/** Redirects and cookies. */
export function answerBelow(app: FastifyInstance, base: string): void {
  if (base === '') return
  const below = (text: string) => text.replace(/(; *Path=)\//i, `$1${base}/`)
  app.addHook('onSend', (_request, reply, payload, done) => {
    const location = reply.getHeader('location')
    if (typeof location === 'string' && /^\/(?!\/)/.test(location)) reply.header('location', `${base}${location}`)
    const cookies = reply.getHeader('set-cookie')
    if (cookies !== undefined) {
      reply.removeHeader('set-cookie')
      reply.header(
        'set-cookie',
        [cookies].flat().map((cookie) => below(String(cookie))),
      )
    }
    done(null, payload)
  })
}

/** The paths in the markup of a page. What people wrote is escaped in it: no quote of theirs ends an attribute. */
export const pageBelow = (markup: string, base: string): string =>
  base === ''
    ? markup
    : markup
        .replace(/(\s(?:href|src|action|data-events|data-up)=")\/(?!\/)/g, `$1${base}/`)
        .replace('<html ', `<html data-base="${base}" `)
