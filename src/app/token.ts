/** The operator's token: HTTP_BEARER_TOKEN, else the one that `parley token` keeps in the storage folder. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../settings/all.ts'

export const tokenFile = (storageRoot: string): string => join(storageRoot, 'operator.token')

export function readToken(storageRoot: string): string | undefined {
  try {
    return readFileSync(tokenFile(storageRoot), 'utf8').trim() || undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Written whole and then renamed: a server that starts meanwhile reads the old one or the new one. */
export function writeToken(storageRoot: string): string {
  mkdirSync(storageRoot, { recursive: true, mode: 0o700 })
  const token = randomBytes(32).toString('base64url')
  const draft = `${tokenFile(storageRoot)}.${process.pid}`
  writeFileSync(draft, `${token}\n`, { mode: 0o600 })
  renameSync(draft, tokenFile(storageRoot))
  return token
}

/** The settings with the token of the file, where the environment has none. */
export const withToken = <Some extends Pick<Config, 'HTTP_BEARER_TOKEN' | 'STORAGE_ROOT'>>(config: Some): Some =>
  config.HTTP_BEARER_TOKEN === undefined ? { ...config, HTTP_BEARER_TOKEN: readToken(config.STORAGE_ROOT) } : config

/** Whether a URL is one of this machine. */
export const isHere = (url: string): boolean => /^(localhost|\[::1\]|127(\.\d+){3})$/.test(new URL(url).hostname)

/**
 * The token of the operator goes only where it is meant for: to this machine, and to the server that the settings name. A server that
 * somebody types is given a key of its own, or nothing: else a wrong address would be told the token of another server.
 */
export const tokenFor = (
  url: string,
  {
    HTTP_BEARER_TOKEN,
    PARLEY_SERVER,
    HTTP_PUBLIC_URL,
  }: Partial<Pick<Config, 'HTTP_BEARER_TOKEN' | 'PARLEY_SERVER' | 'HTTP_PUBLIC_URL'>>,
): string | undefined =>
  isHere(url) || url === PARLEY_SERVER || url === HTTP_PUBLIC_URL ? HTTP_BEARER_TOKEN : undefined
