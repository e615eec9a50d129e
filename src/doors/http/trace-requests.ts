/** A span for each request, by its route: its path and query may hold names and secrets. */
import type { FastifyInstance } from 'fastify'
import { beginRequest, isTracing, type RequestSpan } from '../../base/tracing.ts'

declare module 'fastify' {
  interface FastifyRequest {
    span: RequestSpan | undefined
  }
}

/** Without tracing no request is any dearer: no hook is added. */
export function traceRequests(app: FastifyInstance): void {
  if (!isTracing()) return
  app.decorateRequest('span', undefined)
  app.addHook('onRequest', (request, _reply, done) => {
    const { method, headers, routeOptions } = request
    // Probes come every few seconds, and tell nothing.
    if (/^\/(health|metrics)\b/.test(routeOptions.url ?? '')) return done()
    const route = routeOptions.url ?? '(none)'
    const about = { 'http.request.method': method, 'http.route': route }
    request.span = beginRequest(`${method} ${route}`, headers, about)
    if (request.span?.sampled) request.span.within(done)
    else done()
  })
  // The body comes by events of the socket, which know of no trace.
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.span === undefined) done()
    else request.span.within(done)
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode } = reply.raw
    request.span?.end({ 'http.response.status_code': statusCode }, statusCode >= 500)
    done()
  })
}
