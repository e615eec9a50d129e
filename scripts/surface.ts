/**
 * Says which version the changes of the public surface need: `npm run surface -- <surface.json of the last release> [version]`.
 * With a version it fails where that one is too small; `.github/workflows/release.yml` asks so before it publishes. A first
 * release is measured against nothing, with `first` after its version.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { changesOf, nextVersion, reaches, stepOf } from './surface/compare.ts'
import type { Surface } from './surface/statements.ts'
import { currentSurface } from './surface/surface.ts'

const [file, version, first] = process.argv.slice(2)
if (file === undefined) throw new Error('Name the surface.json of the last release.')
const root = join(import.meta.dirname, '..')
const last = JSON.parse(readFileSync(file, 'utf8')) as Surface & { version: string }
const changes = changesOf(last, await currentSurface())
for (const { step, says } of changes) console.log(`${step}: ${says}`)
const needed = first === 'first' ? last.version : nextVersion(last.version, stepOf(changes))
console.log(`After ${last.version} this is ${needed} or more.`)
const own = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version
if (version !== undefined && (version !== own || !reaches(version, needed))) {
  console.error(`${version} cannot be released: package.json has ${own}, and the changes need ${needed} or more.`)
  process.exitCode = 1
}
