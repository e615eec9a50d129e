/** dist/sbom.cdx.json: the packages inside the built program, as CycloneDX has it, with the hashes of the lock file. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../bin/runtime.js'
import type { Locked } from './lock-file.ts'

interface Package extends Locked {
  readonly version?: string
}

const read = <T>(file: string): T => JSON.parse(readFileSync(join(root, file), 'utf8')) as T

/** `places`: the folders of the packages inside, as the lock file names them. What is installed beside the program is optional. */
export function sbomOf(places: readonly string[]): string {
  const own = read<{ name: string; version: string; license: string; optionalDependencies: object }>('package.json')
  const { packages } = read<{ packages: Record<string, Package> }>('package-lock.json')
  const beside = Object.keys(own.optionalDependencies).map((name) => `node_modules/${name}`)
  const component = (scope: 'required' | 'optional') => (place: string) => {
    const { version = '', license, integrity } = packages[place] ?? {}
    const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
    return {
      type: 'library',
      ...named(name, version),
      scope,
      ...(license !== undefined && { licenses: [{ expression: license }] }),
      ...(integrity !== undefined && { hashes: [{ alg: 'SHA-512', content: hexOf(integrity) }] }),
    }
  }
  return `${JSON.stringify(
    {
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      version: 1,
      metadata: {
        component: { type: 'application', ...named(own.name, own.version), licenses: [{ expression: own.license }] },
      },
      components: [...places.map(component('required')), ...beside.map(component('optional'))],
    },
    undefined,
    2,
  )}\n`
}

function named(name: string, version: string) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  const [group, bare] = name.startsWith('@') ? name.split('/') : [undefined, name]
  return { 'bom-ref': purl, ...(group !== undefined && { group }), name: bare, version, purl }
}

const hexOf = (integrity: string): string => Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')
