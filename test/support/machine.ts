/** A new machine: an empty HOME, an npm whose registry has the packed Parley, and a free port for its server. */
import { mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Network, reachable } from './network.ts'
import { bareHome, pack, run } from './packed.ts'
import { type Later, share, temporaryFolder } from './parley.ts'
import { freePort } from './redis-server.ts'
import { serveRegistry } from './registry.ts'

/** The registry and a package cache, which the machines of a file share. */
export interface Packages {
  readonly registry: string
  readonly cache: string
}

/** For all tests of a file; to pack takes longer than a server to start. */
export const sharePackages = (): (() => Packages) => share(servePackages, 60_000)

async function servePackages(later: Later): Promise<Packages> {
  const folder = await temporaryFolder(later)
  return { registry: await serveRegistry(await pack(), later), cache: join(folder, 'cache') }
}

export interface Machine {
  readonly home: string
  readonly env: Record<string, string>
  /** Where its server listens: HTTP_PORT in `~/.parley/.env`. */
  readonly port: number
  /** Runs a line of shell in its HOME, or below it; resolves with stdout, and rejects if it fails. */
  sh(line: string, below?: string): Promise<string>
}

/** Its server, if it starts one, stops with the test. */
export async function newMachine(
  { registry, cache }: Packages,
  more: Record<string, string> = {},
  network?: Network,
): Promise<Machine> {
  const folder = await temporaryFolder()
  const bare = bareHome(folder)
  const prefix = join(folder, 'prefix')
  const home = join(folder, 'home')
  const env: Record<string, string> = {
    ...bare,
    PATH: [join(prefix, 'bin'), bare.PATH].join(delimiter),
    npm_config_prefix: prefix,
    npm_config_registry: network === undefined ? registry : await reachable(network, registry),
    npm_config_cache: cache,
    npm_config_offline: 'false',
    npm_config_update_notifier: 'false',
    ARCHIVE_ENABLED: 'false',
    ...more,
  }
  const port = await freePort()
  await mkdir(join(home, '.parley'), { recursive: true, mode: 0o700 })
  await writeFile(join(home, '.parley', '.env'), `HTTP_PORT=${port}\n`)
  const [shell = '', ...args] = [...(network?.inside ?? []), 'bash', '-ec']
  const sh = async (line: string, below = '') =>
    (await run(shell, [...args, line], { cwd: join(home, below), env })).stdout
  onTestFinished(async () => void (await sh('if command -v parley > /dev/null; then parley stop; fi')))
  return { home, env, port, sh }
}
