/** Clients of the npm registry, each in a folder of its own: the inspector's command line and mcporter. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Skipped } from '../../bench/peers/python.ts'
import { type Client, mustHave, runToEnd } from './client.ts'
import type { Door } from './doors.ts'
import type { Parley } from './parley.ts'

const place = fileURLToPath(new URL('../.clients', import.meta.url))
const node = process.execPath
/** npm picks versions by the Node it runs on. */
const path = `${dirname(node)}:${process.env.PATH ?? ''}`

/** The program of a package, which is installed on first use; the newest version where the registry has not the one that is asked for. */
export async function install(
  name: string,
  wanted: string,
  bin: string,
  say: (text: string) => void,
): Promise<{ program: string; version: string }> {
  const version = (await isThere(name, wanted)) ? wanted : await newest(name)
  const folder = join(place, name.replace('/', '+'), version)
  const done = join(folder, 'installed')
  if (!existsSync(done)) {
    say(`installing ${name} ${version}`)
    mkdirSync(folder, { recursive: true })
    const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--silent', `${name}@${version}`]
    await promisify(execFile)('npm', args, { env: { ...process.env, PATH: path } }).catch((error: Error) => {
      throw new Skipped(`${name} ${version} cannot be installed: ${error.message.trim().split('\n').at(-1)}`)
    })
    writeFileSync(done, '')
  }
  return { program: join(folder, 'node_modules/.bin', bin), version }
}

const view = (...args: string[]): Promise<string> =>
  promisify(execFile)('npm', ['view', ...args], { env: { ...process.env, PATH: path } }).then(
    ({ stdout }) => stdout.trim(),
    () => '',
  )

/** Installed before, or in the registry. */
const isThere = async (name: string, version: string): Promise<boolean> =>
  existsSync(join(place, name.replace('/', '+'), version)) || (await view(`${name}@${version}`, 'version')) === version

async function newest(name: string): Promise<string> {
  const version = await view(name, 'version')
  if (version === '') throw new Skipped(`${name} is not in the registry, or there is none`)
  return version
}

export async function inspector({ folder }: Parley, say: (text: string) => void): Promise<Client> {
  const { program } = await install('@modelcontextprotocol/inspector', '2.12.0', 'mcp-inspector', say)
  const around = { env: { PATH: path, HOME: folder }, cwd: folder }
  return {
    name: 'inspector 2.12.0',
    eras: ['legacy', 'auto', 'modern'],
    async visit({ at, tool, args, answer, resource }, era) {
      const target =
        typeof at === 'string'
          ? [at, '--transport', 'http']
          : [at.command, ...at.args, ...Object.entries(at.env).flatMap(([key, value]) => ['-e', `${key}=${value}`])]
      const ask = (method: string, ...more: string[]) => {
        const asked = ['--cli', ...target, '--protocol-era', era, '--method', method, ...more]
        return runToEnd(node, [program, ...asked, '--format', 'json'], around)
      }
      const given = Object.entries(args).flatMap(([key, value]) => ['--tool-arg', `${key}=${value}`])
      mustHave(await ask('tools/call', '--tool-name', tool, ...given), answer)
      if (resource) mustHave(await ask('resources/read', '--uri', resource.uri), resource.has)
    },
  }
}

export async function mcporter({ folder }: Parley, say: (text: string) => void): Promise<Client> {
  const { program } = await install('mcporter', '0.12.3', 'mcporter', say)
  const around = { env: { PATH: path, HOME: folder }, cwd: folder }
  return {
    name: 'mcporter 0.12.3',
    eras: ['its own'],
    async visit({ at, tool, args, answer, resource }: Door) {
      const config = join(folder, 'mcporter.json')
      const door = typeof at === 'string' ? { baseUrl: at } : at
      writeFileSync(config, JSON.stringify({ mcpServers: { door }, imports: [] }))
      const ask = (...asked: string[]) => runToEnd(node, [program, '--config', config, ...asked], around)
      const call = ['call', '--server', 'door', '--tool', tool, '--args', JSON.stringify(args), '--output', 'json']
      mustHave(await ask(...call), answer)
      if (resource) mustHave(await ask('resource', 'door', resource.uri, '--json'), resource.has)
    },
  }
}
