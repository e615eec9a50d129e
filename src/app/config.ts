/** Every setting in force, as a person may see it: secrets are hidden. */
import type { Config } from '../settings/all.ts'
import { settings } from '../settings/all.ts'
import type { Setting } from '../settings/kinds.ts'
import type { Settings } from '../settings/read.ts'

interface ShownSetting {
  readonly name: string
  readonly value: string
  readonly source: string
}

/** `token`: the file that the operator's token comes from, where no setting has it. */
export const shownSettings = ({ config, sources }: Settings, token?: string): ShownSetting[] =>
  Object.entries<Setting<unknown>>(settings).map(([name, { secret }]) => {
    if (name === 'HTTP_BEARER_TOKEN' && token !== undefined) return { name, value: '(hidden)', source: token }
    const value = config[name as keyof Config]
    return { name, value: secret && value !== undefined ? '(hidden)' : textOf(value), source: sources[name] ?? '' }
  })

const textOf = (value: unknown): string =>
  value === undefined ? '' : Array.isArray(value) ? value.join(',') : String(value)
