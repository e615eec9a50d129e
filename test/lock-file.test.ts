/** The check of the lock file finds each planted fault. */
import { expect } from 'vitest'
import { faultsOfLock, type Locked } from '../scripts/lock-file.ts'
import { verifies } from './support/verifies.ts'

const sound: Locked = { integrity: `sha512-${'a'.repeat(86)}==`, license: 'MIT' }
const faults = (locked: Locked, place = 'node_modules/a/node_modules/tool') =>
  faultsOfLock({ packages: { '': {}, [place]: locked } }, new Set(['tool']))

verifies('release.lock.checked', 'a hash, a licence, a script, a host', () => {
  expect(faults(sound)).toEqual([])
  expect(faults({ ...sound, hasInstallScript: true })).toEqual([])
  expect(faults({ ...sound, license: '(MIT OR GPL-3.0)' })).toEqual([])
  expect(faults({ ...sound, license: 'MIT AND GPL-3.0' })).toEqual([expect.stringContaining('licence MIT AND GPL-3.0')])
  expect(faults({ license: 'MIT' })).toEqual([expect.stringContaining('has no hash')])
  expect(faults({ ...sound, integrity: 'sha1-x' })).toEqual([expect.stringContaining('has no hash')])
  expect(faults({ integrity: sound.integrity ?? '' })).toEqual([expect.stringContaining('nobody knows')])
  expect(faults({ ...sound, hasInstallScript: true }, 'node_modules/other')).toEqual([
    expect.stringContaining('runs a script'),
  ])
  expect(faults({ ...sound, resolved: 'https://somewhere.example/a.tgz' })).toEqual([
    expect.stringContaining('names where'),
  ])
  // A listed binary is left out only while it is of a tool, and optional.
  const binary = 'node_modules/@biomejs/cli-win32-x64'
  expect(faults({ dev: true, optional: true }, binary)).toEqual([])
  expect(faults({ optional: true }, binary)).toHaveLength(2)
})
