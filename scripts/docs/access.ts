/** docs/internals/access-matrix.md: who may do what, from test/access/matrix.ts. */
import { type Case, cases, matrix, type Row } from '../../test/access/matrix.ts'
import { code, generatedFrom, page, table } from './markdown.ts'

const columns = Object.keys(cases) as Case[]

const cell = (row: Row, of: Case): string => (row[of] === 'yes' || row[of] === 'nothing' ? row[of] : code(row[of]))

export function renderAccess(): string {
  const sections = Object.entries(matrix).flatMap(([room, verbs]) => [
    `## ${room}`,
    table(
      ['verb', ...columns.map((of) => cases[of])],
      Object.entries<Row>(verbs).map(([verb, row]) => [code(verb), ...columns.map((of) => cell(row, of))]),
    ),
  ])
  return page(
    generatedFrom('test/access/matrix.ts'),
    '# Who may do what',
    'A line for each verb of core that doors can reach, a column for each caller and what it reaches for. Every cell is tried by `test/access/access.test.ts`, on both engines; `test/access/doors.test.ts` tries each tool, resource, route and page with the credentials that its callers really have. The rules themselves stand in `src/core/access/rules.ts`, and `src/store/visibility.ts` says which messages are in sight.',
    [
      '- **local**: a request without credentials from loopback, to a loopback name, and without any header that a proxy sets; and stdio. It acts as any agent without a key.',
      '- **operator**: whoever sends `HTTP_BEARER_TOKEN`. It acts as any agent.',
      '- **agent**: whoever sends the key of an agent, or a signed token that names it. It acts as that agent, and sees its own project. A token whose role is that of a reader only reads.',
      '- **writer**, **reader**: whoever sends a signed token that names no agent. A writer acts as any agent without a key, from anywhere: files of the server are not for it. A reader sees as much, and changes nothing.',
      '- **auditor**: whoever sends a signed token with a role of `HTTP_RBAC_AUDITOR_ROLES`. It sees what the operator sees, blind copies included, and changes nothing, whatever else the token says.',
      '- An agent that was ever given a key is its owner’s: nobody else but the operator acts as it. A foreign thing and a missing one answer alike.',
      '- Mail is seen message by message: by its sender and open recipients, and by those who may act as one of them. What is said in a topic is for everybody in its project.',
    ].join('\n'),
    ...sections,
  )
}
