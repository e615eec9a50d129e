/** The rule of edits on texts made up at random: in and out again gives the same, and nothing else ever moves. */
import fc from 'fast-check'
import { parse } from 'jsonc-parser'
import { describe, expect, test } from 'vitest'
import { putEdits, takeEdits } from './edits.ts'
import { type Edit, LeaveAlone } from './shapes.ts'
import { parseToml, valuesOf } from './text/toml-tree.ts'

const value = { type: 'http', url: 'http://127.0.0.1:8765/mcp', headers: { 'X-Parley-Agent': 'bob' } }
const entry: Edit = { kind: 'entry', path: ['mcpServers', 'parley'], value }
const item: Edit = { kind: 'item', path: ['permissions', 'allow'], value: 'mcp__parley__*' }

const key = fc.constantFrom('mcpServers', 'permissions', 'allow', 'a', 'b', 'ü', '')
const plain = fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.string({ maxLength: 8 }))
const comment = fc.constantFrom('', '', ' ', ' // why', ' /* why, "so" */ ', ' // }')

/** JSON with comments, trailing commas, and any indentation: a list of lines, or one line. */
const { document } = fc.letrec<{ document: string; value: string; object: string; list: string }>((tie) => {
  const children = (child: fc.Arbitrary<string>, [open, close]: [string, string]) =>
    fc
      .tuple(
        fc.array(fc.tuple(child, comment), { maxLength: 4 }),
        fc.constantFrom('\n', '\r\n', ''),
        fc.constantFrom('  ', '\t', ''),
        fc.boolean(),
        comment,
      )
      .map(([list, eol, indent, trailing, last]) => {
        const safe = (text: string) => (eol === '' && text.includes('//') ? '' : text)
        const lines = list.map(([one, note], index) => {
          const comma = index < list.length - 1 || trailing ? ',' : ''
          return `${eol}${indent}${one}${comma}${safe(note)}`
        })
        return `${open}${lines.join('')}${safe(last)}${eol}${close}`
      })
  const unique = (keys: fc.Arbitrary<string>) => keys.map((name) => JSON.stringify(name))
  return {
    value: fc.oneof(
      { depthSize: 'small' },
      plain.map((one) => JSON.stringify(one)),
      tie('object'),
      tie('list'),
    ),
    object: children(
      fc.tuple(unique(key), tie('value')).map(([name, one]) => `${name}: ${one}`),
      ['{', '}'],
    ),
    list: children(tie('value'), ['[', ']']),
    document: tie('object'),
  }
})

const without = (text: string) => parse(text, [], { allowTrailingComma: true })

describe('Edits of JSON', () => {
  test.each([entry, item])('come out as they went in, and change nothing else (%j)', (edit) => {
    fc.assert(
      fc.property(document, (text) => {
        let put: ReturnType<typeof putEdits>
        try {
          put = putEdits('json', text, { edits: [edit], known: [] })
        } catch (error) {
          // A key that stands twice, or something else than an object in the way.
          expect(error).toBeInstanceOf(LeaveAlone)
          return
        }
        expect(put.left.length + put.placed.length).toBeGreaterThanOrEqual(0)
        const errors: never[] = []
        parse(put.text, errors, { allowTrailingComma: true })
        expect(errors).toEqual([])
        // Twice is once.
        expect(putEdits('json', put.text, { edits: [edit], known: put.placed }).text).toBe(put.text)
        const taken = takeEdits('json', put.text, put.placed)
        expect(taken.left).toEqual([])
        expect(without(taken.text)).toEqual(without(text))
        // All comments are still there.
        for (const part of text.match(/why/g) ?? []) expect(taken.text).toContain(part)
        expect((put.text.match(/why/g) ?? []).length).toBe((text.match(/why/g) ?? []).length)
        expect((taken.text.match(/why/g) ?? []).length).toBe((text.match(/why/g) ?? []).length)
      }),
      { numRuns: 300 },
    )
  })
})

test('A table of TOML comes out as it went in, whatever stands around it', () => {
  const line = fc.constantFrom('# note', '', 'model = "x"', 'a.b = 1', "lit = 'C:\\x'", 'many = [1, # one\n 2,]')
  const table = fc.constantFrom(
    '[mcp_servers.other]\nurl = "u"',
    '[[list]]\nx = 1',
    '[a]\n"b c" = { d = 1 }',
    '[projects."/p q"]\ntrust_level = "trusted"',
  )
  const text = fc
    .tuple(
      fc.uniqueArray(line, { maxLength: 4 }),
      fc.uniqueArray(table, { maxLength: 3 }),
      fc.constantFrom('\n', '\r\n'),
      fc.constantFrom('', '\n', '\n\n'),
    )
    .map(([lines, tables, eol, end]) => ([...lines, ...tables].join('\n') + end).replaceAll('\n', eol))
  const edit: Edit = {
    kind: 'entry',
    path: ['mcp_servers', 'parley'],
    value: { url: 'u', http_headers: { 'X-A': 'b "c"' } },
  }
  fc.assert(
    fc.property(text, (before) => {
      if (before.includes('a.b') && before.includes('[a]')) return
      const put = putEdits('toml', before, { edits: [edit], known: [] })
      expect(valuesOf(parseToml(put.text))).toMatchObject({ mcp_servers: { parley: edit.value } })
      expect(putEdits('toml', put.text, { edits: [edit], known: put.placed }).text).toBe(put.text)
      expect(valuesOf(parseToml(takeEdits('toml', put.text, put.placed).text))).toEqual(valuesOf(parseToml(before)))
    }),
  )
})
