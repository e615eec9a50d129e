/** Fetches the pinned Node with npm, once for all processes of this checkout or package. It stays in there where that can be written. */
import { spawnSync } from 'node:child_process'
import {
  accessSync,
  existsSync,
  constants as fsConstants,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  utimes,
  writeFileSync,
} from 'node:fs'
import { constants, homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { run } from './child.js'
import { pins } from './pins.js'
import { places, writablePlace } from './places.js'
import { NoRuntime } from './runtime.js'

const windows = process.platform === 'win32'
const program = join('bin', windows ? 'node.exe' : 'node')

/** A process that downloads touches its folder every second, so that the others can tell a slow download from a dead one. */
const beatMs = 1000
const deadMs = 10_000

/** The path of the pinned Node, fetched if it is not there yet. */
export async function ensureRuntime() {
  const pin = pins[`${process.platform}-${process.arch}`]
  if (!pin) throw new NoRuntime(`there is no newer one to fetch for ${process.platform}-${process.arch}`)
  const name = `${pin.name}-${pin.version}`
  const fetched = places().map((place) => join(place, name, program))
  for (const node of fetched) if (existsSync(node)) return node
  const home = join(prepare(), name)
  const node = join(home, program)
  // The download's folder is the lock as well: of several processes one makes it, and its content is moved into place whole.
  const partial = `${home}.partial`
  while (!existsSync(node)) {
    if (lock(partial)) await download(pin, partial, home)
    else await sleep(100)
  }
  return node
}

/** The folder to fetch it into. */
function prepare() {
  if (process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime) {
    throw new NoRuntime('there is no newer one to fetch for a Linux without glibc')
  }
  try {
    return writablePlace()
  } catch (error) {
    throw notWritable(error)
  }
}

const notWritable = ({ code }) =>
  new NoRuntime(`${places().join(' and ')}, where a newer one would be kept, cannot be written (${code})`)

/** Whether it falls to this process to download. What a killed one left behind is cleared away. */
function lock(partial) {
  try {
    const touched = statSync(partial, { throwIfNoEntry: false })?.mtimeMs
    if (touched !== undefined && Date.now() - touched > deadMs) {
      // Moved away first: of several that find it dead, one succeeds.
      renameSync(partial, `${partial}.${process.pid}`)
      rmSync(`${partial}.${process.pid}`, { recursive: true, force: true })
    }
    mkdirSync(partial)
    return true
  } catch (error) {
    if (error.code === 'EEXIST' || error.code === 'ENOENT') return false
    throw notWritable(error)
  }
}

async function download(pin, partial, home) {
  const beat = setInterval(() => utimes(partial, new Date(), new Date(), () => {}), beatMs)
  let stopped
  try {
    const fetching = npm(pin, partial)
    console.error(`Parley needs Node 24 or newer: fetching ${pin.name} ${pin.version} (once, about 50 MB) …`)
    stopped = await fetching
    if (!stopped) install(join(partial, 'node_modules', pin.name), home)
  } finally {
    clearInterval(beat)
    rmSync(partial, { recursive: true, force: true })
  }
  if (stopped) process.exit(128 + constants.signals[stopped])
}

/** Has npm put the package into the folder `into`. Returns the signal that stopped it, if one did. */
async function npm({ name, version, integrity }, into) {
  const manifest = { name: 'runtime', version: '1.0.0', dependencies: { [name]: version } }
  const packages = { '': manifest, [`node_modules/${name}`]: { version, integrity } }
  writeFileSync(join(into, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(into, 'package-lock.json'), JSON.stringify({ ...manifest, lockfileVersion: 3, packages }))
  const args = ['ci', '--prefix', into, '--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier']
  args.push('--fetch-retries=1', '--fetch-retry-mintimeout=1000')
  if (!cacheIsWritable()) args.push('--cache', join(into, 'cache'))
  // An agent host may start us by full path with hardly a PATH; npm and the node it asks for stand beside this one.
  const env = { ...process.env, PATH: [process.env.PATH, dirname(process.execPath)].filter(Boolean).join(delimiter) }
  // Nothing of npm goes to stdout, where our caller may speak a protocol.
  const options = { cwd: into, env, shell: windows, stdio: ['ignore', 'ignore', 'pipe'] }
  const ended = await run('npm', args, options).catch((error) => {
    throw new NoRuntime(`npm, which would fetch a newer one, cannot be started (${error.code})`)
  })
  if (ended.code !== 0 && !ended.stopped) {
    const [, code = `exit code ${ended.code}`] = /npm error code (\S+)/.exec(ended.stderr) ?? []
    throw new NoRuntime(`npm could not fetch a newer one (${code})`)
  }
  return ended.stopped
}

/** npm keeps what it fetches below HOME, which may be missing or read-only. */
function cacheIsWritable() {
  try {
    let cache = process.env.npm_config_cache || join(homedir(), '.npm')
    while (!existsSync(cache)) cache = dirname(cache)
    accessSync(cache, fsConstants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Moves what was fetched into place, but only if it runs here: an old glibc would refuse it at every start. */
function install(fetched, home) {
  if (spawnSync(join(fetched, program), ['--version']).status !== 0) {
    throw new NoRuntime('the newer one that was fetched does not run on this system')
  }
  if (existsSync(join(home, program))) return
  rmSync(home, { recursive: true, force: true })
  renameSync(fetched, home)
}
