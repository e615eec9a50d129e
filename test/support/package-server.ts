/** Packs the program once for all files of a run, when the first of them asks: it takes npm a second of a core. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from './sources.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers with the path of the tarball. */
    packageUrl: string
  }
}

/** The path of the tarball. */
export async function packInto(folder: string): Promise<string> {
  const env = { ...process.env, npm_config_cache: join(folder, 'cache') }
  await promisify(execFile)('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root, env })
  const [tarball = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'))
  return join(folder, tarball)
}

export async function servePackage() {
  const folders: string[] = []
  let packing: Promise<string> | undefined
  const pack = async (): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-package-'))
    folders.push(folder)
    return packInto(folder)
  }
  const server = createServer((_request, response) => {
    packing ??= pack()
    packing.then(
      (path) => response.end(path),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The next to ask is given another one: the program has changed. */
    forget() {
      packing = undefined
    },
    async close() {
      server.closeAllConnections()
      server.close()
      for (const folder of folders) await rm(folder, { recursive: true, force: true })
    },
  }
}
