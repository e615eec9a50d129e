/** What a setting is, and the kinds of value there are: each takes a text, and throws what is wrong with it. */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { limits } from '../base/limits.ts'
import { parseRedisUrl } from '../redis/address.ts'

export interface Setting<Value> {
  readonly default: string
  readonly says: string
  /** Never shown, not even at the start or in a fault. */
  readonly secret?: boolean
  /** The value, or throws what is wrong with it. */
  parse(raw: string): Value
}

export const text = (raw: string): string => raw

export const optional = (raw: string): string | undefined => (raw === '' ? undefined : raw)

export function list(raw: string): readonly string[] {
  return raw
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

export function flag(raw: string): boolean {
  const word = raw.trim().toLowerCase()
  if (['true', '1', 'yes', 'on'].includes(word)) return true
  if (['false', '0', 'no', 'off'].includes(word)) return false
  throw new Error('must be true or false')
}

export const number =
  ({ min, max, whole = true }: { min: number; max: number; whole?: boolean }) =>
  (raw: string): number => {
    const value = Number(raw)
    if (raw.trim() === '' || Number.isNaN(value) || value < min || value > max || (whole && !Number.isInteger(value)))
      throw new Error(`must be a ${whole ? 'whole ' : ''}number from ${min} to ${max}`)
    return value
  }

export const count = number({ min: 0, max: Number.MAX_SAFE_INTEGER })

export const seconds = number({ min: 1, max: limits.durationSeconds })

export const oneOf =
  <Word extends string>(...words: Word[]) =>
  (raw: string): Word => {
    const given = raw.trim().toLowerCase()
    const word = words.find((candidate) => candidate === given)
    if (word === undefined) throw new Error(`must be one of ${words.join(', ')}`)
    return word
  }

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

export const folders = (raw: string): readonly string[] => list(raw).map(folder)

export function redisUrl(raw: string): string | undefined {
  if (raw !== '' && parseRedisUrl(raw) === undefined)
    throw new Error(
      'must be redis:// or rediss:// with a host, and perhaps a port and the number of a database; redis+cluster://host:port,host:port for a Cluster; redis+sentinel://host:port,host:port/master for Sentinels',
    )
  return optional(raw)
}

export const setting = <Value>(row: Setting<Value>): Setting<Value> => row
