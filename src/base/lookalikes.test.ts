/** Names that hide something, and names that mix scripts. */
import { expect, test } from 'vitest'
import { verifies } from '../../test/support/verifies.ts'
import { hasInvisible, isAscii, mixesScripts } from './lookalikes.ts'

verifies('bus.names.visible', 'Invisible characters are found, but for those inside an emoji', () => {
  const hidden = [
    '\u200b',
    '\u200d',
    '\u200e',
    '\u202e',
    '\u2060',
    '\ufeff',
    '\u00ad',
    '\u034f',
    '\u180e',
    '\ufe0f',
    '\u3164',
    '\u2800',
  ]
  for (const char of [...hidden, '\u{e0061}', '\u{e000}', '\u2028', '\ud800'])
    for (const name of [`a${char}b`, char, `${char}a`, `👩${char}b`])
      expect(hasInvisible(name), JSON.stringify(name)).toBe(true)
  for (const name of [
    'alice',
    'Ünïcödé 漢字',
    '👩\u200d💻',
    '❤\ufe0f',
    '1\ufe0f\u20e3',
    '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
    '👨\u200d👩\u200d👧 team',
    '🇫🇷',
  ])
    expect(hasInvisible(name), JSON.stringify(name)).toBe(false)
})

verifies('bus.names.scripts', 'Scripts that are written together are no mixture, others are', () => {
  for (const name of [
    'alice',
    'Алиса-2',
    'Ελένη',
    'サクラ さくら 桜 sakura',
    'ㄅㄆㄇ 中文 Wang',
    '한국 漢字 Kim',
    'नमस्ते १',
    'שלום',
    'ᎣᏏᏲ',
    '𓀀𓁐',
    'grey 🦉 owl',
    '7 + 7 = 14 €',
    'e\u0301a',
  ])
    expect(mixesScripts(name), name).toBe(false)
  for (const name of [
    'аlice', // Cyrillic а
    'HumanΟverseer', // Greek Ο
    'Нuman', // Cyrillic Н
    'Αлиса', // Greek Α among Cyrillic
    'ᎪLICE', // Cherokee Ꭺ
    'pаypal'.normalize('NFD'),
    'さくら 한국',
    'ㄅ さ',
    'a𓀀',
    'Հuman', // Armenian Հ
  ])
    expect(mixesScripts(name), name).toBe(true)
})

test('ASCII is told from the rest', () => {
  expect(['', 'alice', '\x7f', 'a\nb'].map(isAscii)).toEqual([true, true, true, true])
  expect(['\x80', 'é', '👋', '\ud800'].map(isAscii)).toEqual([false, false, false, false])
})
