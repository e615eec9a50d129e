/** The metrics on a port of their own, and nothing else: a firewall can let the scraper in there alone. */
import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { textType } from '../../base/meters.ts'

// An import by name would load the whole of fetch with it: 30 ms of a start.
const http = process.getBuiltinModule('node:http')

interface MetricsPort {
  readonly host: string
  readonly port: number
  readonly token: string | undefined
  text(): Promise<string>
}

/** Whether a request brings the token of the metrics. Hashing first makes the lengths equal, and hides that of the secret. */
export function bringsToken({ authorization = '' }: IncomingHttpHeaders, token: string): boolean {
  const given = /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ''
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', token, 'buffer'))
}

/** Without a token everybody who reaches the port may read. Resolves once it listens; the returned function ends it. */
export async function serveMetrics({ host, port, token, text }: MetricsPort) {
  const server = http.createServer((request, response) => {
    const path = request.url?.split('?', 1)[0]
    const status = path !== '/metrics' ? 404 : request.method !== 'GET' ? 405 : 200
    if (status !== 200) return void response.writeHead(status).end()
    if (token !== undefined && !bringsToken(request.headers, token)) return void response.writeHead(401).end()
    text().then(
      (all) => response.writeHead(200, { 'content-type': textType }).end(all),
      () => response.writeHead(503).end(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
