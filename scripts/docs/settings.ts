/** docs/settings.md and .env.example: the settings by subject, from the tables in src/settings. */
import { code, generatedFrom, page, table } from './markdown.ts'

export interface Setting {
  readonly default: string
  readonly says: string
}

/** Heading → name → setting. */
export type Subjects = Readonly<Record<string, Readonly<Record<string, Setting>>>>

export function renderSettings(subjects: Subjects): string {
  const chapters = Object.entries(subjects).flatMap(([heading, settings]) => [
    `## ${heading}`,
    table(
      ['name', 'default', 'what it does'],
      Object.entries(settings).map(([name, row]) => [
        code(name),
        row.default === '' ? '' : code(row.default),
        row.says,
      ]),
    ),
  ])
  return page(
    generatedFrom('src/settings'),
    '# Settings',
    'Settings come from the command line, the environment, the file that `PARLEY_ENV_FILE` names, `.env` of the checkout that Parley runs from, and `~/.parley/.env` (`.env.example` is one to start from). ' +
      'The first that has a value wins. `parley config show` tells the source of each. ' +
      'Bad settings end the start with one message that lists every fault, and exit code 2.',
    ...chapters,
  )
}

/** Everything is commented out: copied as it is, it changes nothing. */
export function renderEnvExample(subjects: Subjects): string {
  const chapters = Object.entries(subjects).flatMap(([heading, settings]) => [
    `# --- ${heading} ---`,
    ...Object.entries(settings).map(([name, row]) => `# ${row.says}\n# ${name}=${row.default}`),
  ])
  return page('# Generated from src/settings by `npm run docs`. Copy it to .env and edit the copy.', ...chapters)
}
