/** A setting, and the kinds of value there are: `kind(default).says(sentence)` is a row of a table of settings. */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { limits } from '../base/limits.ts'
import { parseRedisUrl } from '../redis/address.ts'

export interface Setting<Value> {
  readonly default: string
  readonly says: string
  /** Never shown, not even at the start or in a fault. */
  readonly secret?: boolean
  /** Throws an error that says what is wrong with the text. */
  parse(raw: string): Value
}

type Parse<Value> = Setting<Value>['parse']

/** A kind of its own. `says` and `secret` both make a setting of it. */
export const parsed = <Value>(usual: string, parse: Parse<Value>) => ({
  says: (says: string): Setting<Value> => ({ default: usual, says, parse }),
  secret: (says: string): Setting<Value> => ({ default: usual, says, parse, secret: true }),
})

/** Returns what is wrong with a text, if something is. */
type Fault = (raw: string) => string | undefined

export const matching =
  (pattern: RegExp, fault: string): Fault =>
  (raw) =>
    pattern.test(raw) ? undefined : fault

/** Goes into a header as it is. */
export const visible = matching(/^[\x21-\x7e]+$/, 'must be visible ASCII characters without spaces')

/** A guessed secret lets anybody in: one that is short, plain or copied from an example is refused (serve.secret.weak). */
export function secretFault(raw: string): string | undefined {
  if (raw.length < 16) return 'must have at least 16 characters'
  if (new Set(raw).size < 8) return 'must have at least 8 different characters'
  return /change.?(?:me|this)|your.?secret/i.test(raw) ? 'must be one of your own, not that of an example' : undefined
}

function checked(raw: string, fault: Fault | undefined): string {
  const says = fault?.(raw)
  if (says !== undefined) throw new Error(says)
  return raw
}

export const text = (usual: string, fault?: Fault) => parsed(usual, (raw) => checked(raw, fault))

/** Empty by default, which is undefined. */
export const optional = (fault?: Fault) => parsed('', (raw) => (raw === '' ? undefined : checked(raw, fault)))

const itself = (raw: string): string => raw

export const list = (usual = '', item: Parse<string> = itself) =>
  parsed(usual, (raw): readonly string[] =>
    raw
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '')
      .map(item),
  )

export const flag = (usual: boolean) =>
  parsed(String(usual), (raw) => {
    const word = raw.trim().toLowerCase()
    if (['true', '1', 'yes', 'on'].includes(word)) return true
    if (['false', '0', 'no', 'off'].includes(word)) return false
    throw new Error('must be true or false')
  })

export const number = (usual: number, { min, max, whole = true }: { min: number; max: number; whole?: boolean }) =>
  parsed(String(usual), (raw) => {
    const value = Number(raw)
    if (raw.trim() === '' || Number.isNaN(value) || value < min || value > max || (whole && !Number.isInteger(value)))
      throw new Error(`must be a ${whole ? 'whole ' : ''}number from ${min} to ${max}`)
    return value
  })

export const count = (usual: number) => number(usual, { min: 0, max: Number.MAX_SAFE_INTEGER })

export const seconds = (usual: number) => number(usual, { min: 1, max: limits.durationSeconds })

export const oneOf = <Word extends string>(words: readonly Word[], usual: Word) =>
  parsed(usual, (raw): Word => {
    const given = raw.trim().toLowerCase()
    const word = words.find((candidate) => candidate === given)
    if (word === undefined) throw new Error(`must be one of ${words.join(', ')}`)
    return word
  })

export function folder(raw: string): string {
  if (raw.trim() === '') throw new Error('must name a folder')
  const home = () => {
    try {
      return homedir()
    } catch {
      throw new Error('begins with "~", but this user has no home folder: name another one')
    }
  }
  return resolve(raw === '~' || raw.startsWith('~/') ? join(home(), raw.slice(1)) : raw)
}

/** Where an installation keeps its files. */
export const storageRoot = parsed('~/.parley', folder)

/** The address of a server as a URL without a slash at its end: `host:port`, or a URL of http or https. */
export function serverUrl(raw: string): string {
  const written = /^[a-z][a-z0-9+.-]*:\/\//i.test(raw) ? raw : `http://${raw}`
  // URL.parse is not there in Node 20, on which `parley wait` may run.
  const url = URL.canParse(written) ? new URL(written) : undefined
  const plain = url !== undefined && /^https?:$/.test(url.protocol) && `${url.username}${url.search}${url.hash}` === ''
  if (!plain) throw new Error('must be host:port, or a URL of http or https without a query')
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

export const redisUrl = () =>
  optional((raw) =>
    parseRedisUrl(raw) === undefined
      ? 'must be redis:// or rediss:// with a host, and perhaps a port and the number of a database; redis+cluster://host:port,host:port for a Cluster; redis+sentinel://host:port,host:port/master for Sentinels'
      : undefined,
  )
