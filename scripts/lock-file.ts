/** Looks at package-lock.json, as a part of `npm run check`: every package has a hash, a licence and no script that is not allowed, and no host is named. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../test/support/sources.ts'

export interface Locked {
  readonly integrity?: string
  readonly license?: string
  readonly resolved?: string
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
  readonly optional?: boolean
}

export interface LockFile {
  readonly packages: Readonly<Record<string, Locked>>
}

/** Licences that ask for no more than their text and a notice; MPL and LGPL are of tools and libraries that are not changed. */
const allowed = new Set(
  '0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause BlueOak-1.0.0 ISC LGPL-3.0-or-later MIT MPL-2.0 PSF-2.0'.split(' '),
)

/**
 * The binaries of two development tools for platforms other than Linux x64. Their hashes could not be had where the lock
 * file was made: its registry does not carry them. A published Parley has none of them. Whoever has a hash adds it and
 * takes the line out; none may be added here.
 */
const withoutHash: ReadonlySet<string> = new Set([
  ...['android-arm64', 'android-x64', 'darwin-arm64', 'darwin-x64', 'linux-arm64-musl', 'linux-x64-musl'].map(biome),
  ...['win32-arm64', 'win32-x64'].map(biome),
  ...['android-arm-eabi', 'android-arm64', 'darwin-arm64', 'darwin-x64', 'freebsd-x64', 'linux-arm-gnueabihf'].map(
    rolldown,
  ),
  ...['linux-arm64-gnu', 'linux-arm64-musl', 'linux-ppc64-gnu', 'linux-s390x-gnu', 'linux-x64-musl'].map(rolldown),
  ...['openharmony-arm64', 'wasm32-wasi', 'win32-arm64-msvc', 'win32-x64-msvc'].map(rolldown),
])

function biome(platform: string): string {
  return `node_modules/@biomejs/cli-${platform}`
}

function rolldown(platform: string): string {
  return `node_modules/@rolldown/binding-${platform}`
}

/** A sentence for each fault. `scripts`: the packages whose install scripts may run. */
export function faultsOfLock({ packages }: LockFile, scripts: ReadonlySet<string>): string[] {
  return Object.entries(packages).flatMap(([place, locked]) => {
    if (place === '') return []
    const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
    // Binaries that are not there tell no licence either: they are those without a hash.
    const unseen = withoutHash.has(place) && locked.dev === true && locked.optional === true
    return [
      ...(unseen || /^sha512-[A-Za-z0-9+/]{86}==$/.test(locked.integrity ?? '') ? [] : [`${place} has no hash`]),
      ...(unseen || isAllowed(locked.license)
        ? []
        : [`${place} has the licence ${locked.license ?? 'of nobody knows'}`]),
      ...(locked.hasInstallScript && !scripts.has(name) ? [`${place} runs a script when it is installed`] : []),
      ...(locked.resolved === undefined ? [] : [`${place} names where it came from: ${locked.resolved}`]),
    ]
  })
}

/** Of `A OR B` one is enough, of `A AND B` all are needed. */
const isAllowed = (license = ''): boolean =>
  license.split(' OR ').some((choice) => choice.split(' AND ').every((one) => allowed.has(one.replace(/[()]/g, ''))))

if (import.meta.main) {
  const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'))
  const { allowScripts } = read('package.json') as { allowScripts: Record<string, boolean> }
  const faults = faultsOfLock(read('package-lock.json'), new Set(Object.keys(allowScripts)))
  for (const fault of faults) process.stderr.write(`package-lock.json: ${fault}\n`)
  process.exitCode = faults.length > 0 ? 1 : 0
}
