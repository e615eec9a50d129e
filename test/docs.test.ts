/** The renderers of the generated pages, on tables made up for them. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { renderRequirements } from '../scripts/docs/requirements.ts'
import { renderEnvExample, renderSettings } from '../scripts/docs/settings.ts'
import { renderTools } from '../scripts/docs/tools.ts'

test('a tool is shown with its arguments, their defaults and its answer', () => {
  const input = z.strictObject({
    to: z.string().describe('a | b'),
    kind: z.enum(['x', 'y']).optional(),
    limit: z.int().default(20),
    tags: z.array(z.union([z.string(), z.null()])).optional(),
  })
  const output = z.object({ id: z.string(), note: z.string().nullable().optional() })
  const tool = {
    name: 'note_send',
    title: '',
    description: 'Send it.',
    cluster: '',
    effect: 'write',
    input,
    run: async () => '',
  } as const
  const door = {
    title: 'Notes',
    instructions: 'Take notes.',
    tools: [
      { ...tool, output, wrapped: true },
      { ...tool, name: 'note_text' },
    ],
    resources: [{ uri: 'note://{id}', name: 'note', description: 'One note.', read: async () => '' }],
  }
  const shortLists = { few: { tools: new Set(['note_send', 'note_text']) } }
  const page = renderTools([{ door, url: '/notes/mcp', shortLists }])
  expect(page).toContain('Served at `/notes/mcp`.')
  expect(page).toContain('With `?tools=few` only `note_send`, `note_text` are offered.')
  expect(page).toContain('| `to` | `string` | required | a \\| b |')
  expect(page).toContain('| `kind` | `"x" \\| "y"` |  |  |')
  expect(page).toContain('| `limit` | `integer` | `20` |  |')
  expect(page).toContain('| `tags` | `(string \\| null)[]` |  |  |')
  expect(page).toContain('Answers `{ result: { id: string, note?: string | null } }`.')
  expect(page).toContain('Answers text.')
  expect(page).toContain('| `note://{id}` | One note. |')
  expect(page).toMatch(/^<!-- Generated .*[^\n]\n$/s)
})

test('settings and promises become tables, and an example that changes nothing', () => {
  const subjects = {
    'HTTP server': { HTTP_PORT: { default: '8765', says: 'The port.' }, TOKEN: { default: '', says: 'The token.' } },
    Log: { LEVEL: { default: 'info', says: 'The level.' } },
  }
  const config = renderSettings(subjects)
  expect(config).toContain('| `HTTP_PORT` | `8765` | The port. |\n| `TOKEN` |  | The token. |\n')
  expect(config.match(/^## .*|^\| `\w+`/gm)).toEqual([
    '## HTTP server',
    '| `HTTP_PORT`',
    '| `TOKEN`',
    '## Log',
    '| `LEVEL`',
  ])
  const example = renderEnvExample(subjects)
  expect(example).toContain('# The port.\n# HTTP_PORT=8765\n\n# The token.\n# TOKEN=\n\n# --- Log ---\n')
  expect(example).toMatch(/^(#.*|)(\n(#.*|))*$/)
  const promises = [
    { id: 'serve.a.b', spec: 'serve.md', says: 'It serves.' },
    { id: 'other.a.b', spec: 'other.md', says: 'It runs.' },
  ]
  expect(renderRequirements(promises)).toMatch(
    /## Serving\n\n[\s\S]*\| `serve.a.b` \| It serves. \| serve.md \|\n\n## other\n/,
  )
})
