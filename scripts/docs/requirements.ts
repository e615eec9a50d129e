/** docs/internals/requirements.md: what Parley promises, from test/requirements.ts. */
import type { Requirement } from '../../test/requirements.ts'
import { code, generatedFrom, page, table } from './markdown.ts'

const titles: Readonly<Record<string, string>> = {
  access: 'Callers and access',
  feed: 'The feed of changes',
  mailbox: 'The mailbox door',
  bus: 'The bus door',
  all: 'All doors',
  serve: 'Serving',
  cli: 'Commands for people',
  search: 'Search',
  docs: 'The pages for the first hour',
  start: 'The first hour',
}

export function renderRequirements(requirements: readonly Requirement[]): string {
  const groups = Map.groupBy(requirements, ({ id }) => id.slice(0, id.indexOf('.')))
  const sections = [...groups].flatMap(([prefix, group]) => [
    `## ${titles[prefix] ?? prefix}`,
    table(
      ['id', 'promise', 'where'],
      group.map(({ id, says, spec }) => [code(id), says, spec]),
    ),
  ])
  return page(
    generatedFrom('test/requirements.ts'),
    '# What Parley promises',
    'Each line has a test that says `verifies` and its id. The suite fails if no passing test verifies it.',
    ...sections,
  )
}
