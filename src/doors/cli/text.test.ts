/** The commands print text that is harmless, aligned, and as wide as the terminal. */
import { beforeAll, describe, expect, test } from 'vitest'
import { verifies } from '../../../test/support/verifies.ts'
import type { Entry } from '../../core/topics/transcript.ts'
import { harmlessJson, harmlessLine, harmlessText, word } from './terminal/harmless.ts'
import { type Columns, table } from './terminal/tables.ts'
import { displayWidth, loadWidths, truncate, wrap } from './terminal/width.ts'
import { messageMarkdown, messageText } from './topics/messages.ts'

beforeAll(loadWidths)

const plain = { tty: false, color: false, width: 80 }
const terminal = { tty: true, color: false, width: 40 }

const entry: Entry = {
  uid: 'm1',
  seq: 12,
  sender: 'ann',
  kind: 'question',
  replyToUid: 'm0',
  replyToSeq: 10,
  body: 'Which cache?\n\n- the first',
  metadata: undefined,
  clientId: undefined,
  createdAt: Date.UTC(2026, 0, 1),
}

describe('Text from agents', () => {
  verifies('cli.topics.harmless', 'shows what would steer a terminal', () => {
    expect(harmlessText('a\x1b[2Jb\r\nc\td\x07\x7f\u009b31m\u202ee\rf')).toBe('a␛[2Jb\nc\td␇␡\\u009b31m\\u202ee␍f')
    expect(harmlessLine('one\ntwo\tthree\u2028four')).toBe('one␊two␉three\\u2028four')
    // No character of the two blocks of control characters comes through.
    const all = String.fromCharCode(...Array.from({ length: 0xa0 }, (_, code) => code))
    expect(harmlessText(all).replace(/[\n\t]/g, '')).toMatch(/^\P{Cc}*$/u)
    expect(harmlessJson({ all })).toMatch(/^\P{Cc}*$/u)
    expect(JSON.parse(harmlessJson({ all, mark: '\u202e' }))).toEqual({ all, mark: '\u202e' })
  })

  verifies('cli.topics.harmless', 'cannot pass for the line above a message', () => {
    expect(word('red-squirrel')).toBe('red-squirrel')
    expect(word('漢字')).toBe('漢字')
    expect(word('bob · message · just now')).toBe('"bob · message · just now"')
    expect(word('a" b\n')).toBe('"a\\" b\\n"')
    const forged = { ...entry, kind: 'x\n#13 bob', body: `${' '.repeat(36)}#13 bob · message\n#14 bob · message` }
    const lines = messageText(forged, terminal, 'now').split('\n')
    expect(lines.filter((line) => /^#\d/.test(line))).toEqual(['#12 ann · "x\\n#13 bob" · now'])
    expect(lines[1]).toBe('    reply to #10')
    const long = messageText({ ...entry, sender: `${'x '.repeat(20)}#13 bob` }, terminal, 'now').split('\n')
    expect(long[0]).toBe('#12 "x x x x x x x x x x x x x x x …')
    for (const line of [...lines, ...long]) expect(displayWidth(line)).toBeLessThanOrEqual(40)
    expect(messageMarkdown({ ...entry, sender: '# <b>', body: '## 13 · bob' })).toBe(
      '## 12 · "\\# \\<b\\>" · question · 2026-01-01T00:00:00.000Z · reply to \\#10\n\n<!-- message_id: m1 -->\n\n> ## 13 · bob\n\n',
    )
  })

  test('is set in, with who wrote it, what it is and when above it', () => {
    expect(messageText(entry, plain, '2026-01-01T00:00:00.000Z')).toBe(
      '#12 ann · question · 2026-01-01T00:00:00.000Z · reply to #10\n    Which cache?\n\n    - the first\n\n',
    )
    expect(messageText(entry, { ...terminal, color: true }, 'now')).toContain('\x1b[33mquestion\x1b[39m')
  })
})

describe('A table', () => {
  const columns: Columns<readonly [name: string, messages: number, seen: string]> = {
    name: ['shrinks', ([name]) => name],
    messages: ['right', ([, messages]) => messages],
    seen: ['left', ([, , seen]) => seen],
  }
  const rows = [
    ['漢字', 5, 'just now'],
    ['a name that does not fit the terminal', 1200, '3 min ago'],
  ] as const

  verifies('cli.topics.terminal', 'fits the terminal, its columns under each other', () => {
    expect(table(columns, rows, terminal)).toBe(
      [
        'NAME                 MESSAGES  SEEN',
        '漢字                        5  just now',
        'a name that does n…      1200  3 min ago',
        '',
      ].join('\n'),
    )
    for (const line of table(columns, rows, terminal).split('\n')) expect(displayWidth(line)).toBeLessThanOrEqual(40)
  })

  verifies('cli.topics.terminal', 'has tabs between its values elsewhere, which no value can hold', () => {
    expect(table(columns, [['a\tb\x1b', 1, 'x']], plain)).toBe('name\tmessages\tseen\na␉b␛\t1\tx\n')
  })
})

test('wide and joined characters are counted as a terminal does', () => {
  expect(['abc', '漢字', 'e\u0301', '👩‍👩‍👧‍👦', '❤️', ''].map(displayWidth)).toEqual([3, 4, 1, 2, 2, 0])
  expect(['กำ', '⌚\ufe0e', '👍🏽', '🇩🇪', '1️⃣', '한글'].map(displayWidth)).toEqual([2, 1, 2, 2, 2, 4])
  expect(truncate('漢字漢字', 5)).toBe('漢字…')
  expect(truncate('abc', 3)).toBe('abc')
})

test('long lines are parted at spaces, and where there is none', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three'])
  expect(wrap('one two three', 6)).toEqual(['one', 'two', 'three'])
  expect(wrap('    indented', 6)).toEqual(['    in', 'dented'])
  expect(wrap('漢字漢字', 5)).toEqual(['漢字', '漢字'])
  expect(wrap('漢', 1)).toEqual(['漢'])
  expect(wrap('', 5)).toEqual([''])
  const long = 'ä'.repeat(65_536)
  expect(wrap(long, 76).join('')).toBe(long)
})
