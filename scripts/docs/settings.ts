/** docs/config.md and .env.example: the settings, from src/settings/config.ts. */
import { code, generatedFrom, page, table } from './markdown.ts'

export interface Setting {
  readonly default: string
  readonly says: string
}

export type Settings = Readonly<Record<string, Setting>>

export function renderSettings(settings: Settings): string {
  const rows = Object.entries(settings).map(([name, row]) => [
    code(name),
    row.default === '' ? '' : code(row.default),
    row.says,
  ])
  return page(
    generatedFrom('src/settings/config.ts'),
    '# Settings',
    'Settings are environment variables, or lines of a `.env` file in the working folder (`.env.example` is one to start from). ' +
      'Options of the command line win over the environment, the environment over the file. ' +
      'Bad settings end the start with one message that lists every fault, and exit code 2.',
    table(['name', 'default', 'what it does'], rows),
  )
}

/** Everything is commented out: copied as it is, it changes nothing. */
export function renderEnvExample(settings: Settings): string {
  const entries = Object.entries(settings).map(([name, row]) => `# ${row.says}\n# ${name}=${row.default}`)
  return page(
    '# Generated from src/settings/config.ts by `npm run docs`. Copy it to .env and edit the copy.',
    ...entries,
  )
}
