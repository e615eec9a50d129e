/** An npm registry of one package, the packed Parley: `npm install` and `npx` take it from there as they would take the published one. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Later } from './parley.ts'
import { root } from './sources.ts'

/** Its URL. */
export async function serveRegistry(tarball: string, later: Later): Promise<string> {
  const bytes = readFileSync(tarball)
  // The scripts of a published package are those of its installation; Parley has none.
  const { scripts: _, ...manifest } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
  const server = createServer((request, response) => {
    if (request.url === '/parley-hub.tgz') return void response.end(bytes)
    if (request.url !== '/parley-hub') return void response.writeHead(404).end('{}')
    const { version } = manifest
    const dist = { tarball: `http://${request.headers.host}/parley-hub.tgz`, integrity }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        name: manifest.name,
        'dist-tags': { latest: version },
        versions: { [version]: { ...manifest, dist } },
      }),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  later(async () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
