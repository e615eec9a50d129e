/** The key that Parley signs with: SECRET_KEY, else one made on the first start and kept in the storage folder. */
import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HubError } from '../base/errors.ts'
import { secretFault } from '../settings/kinds.ts'

export function keepSecret(storageRoot: string, log: { warn(about: object, says: string): void }): string {
  mkdirSync(storageRoot, { recursive: true, mode: 0o700 })
  const path = join(storageRoot, 'secret.key')
  const key = readKey(path) ?? makeKey(path)
  const fault = secretFault(key)
  if (fault !== undefined)
    throw new HubError('INVALID_ARGUMENT', `The key in ${path} is too weak to sign with: it ${fault}.`, {
      hint: 'Delete the file, and a new key is made; clients then open new sessions.',
    })
  if (isExposed(path))
    log.warn({ path }, 'others may read the key that Parley signs with: give its file the mode 600, or delete it')
  return key
}

/** Windows has no such modes: there the folder of the user protects it. */
const isExposed = (path: string): boolean => process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0

function readKey(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Written whole under another name and then linked: of several processes that start at once, one wins and all agree. */
function makeKey(path: string): string {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  try {
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(draft)
  }
  const key = readKey(path)
  if (key === undefined)
    throw new HubError('INVALID_ARGUMENT', `${path} is empty: it should hold the key that Parley signs with.`, {
      hint: 'Delete it, and a new key is made; clients then open new sessions.',
    })
  return key
}
