/** The template tag, against any text that may be put into it. */
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { codePoints } from '../../../test/support/code-points.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { Html, html, raw } from './html.ts'

const decode = (markup: string): string =>
  markup
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&#96;', '`')
    .replaceAll('&amp;', '&')

const hostile = fc.oneof(
  fc.string({ unit: codePoints }),
  fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '`', '&', '=', '/', ' ', 'a', ';', '#') }),
)

describe('The template tag', () => {
  verifies('web.html.escaped', 'lets no text out of its place, in elements and in attributes', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const inside = /^<a title="([^"]*)">([^<]*)<\/a>$/.exec(`${html`<a title="${text}">${text}</a>`}`)
        expect(inside).not.toBeNull()
        for (const shown of inside?.slice(1) ?? []) expect(shown).not.toMatch(/[<>"'`]/)
        expect(inside?.[1]).toBe(inside?.[2])
      }),
    )
  })

  verifies('web.html.escaped', 'keeps every text that can be shown as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        fc.pre(!/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u.test(text))
        expect(decode(`${html`${text}`}`)).toBe(text)
      }),
    )
  })

  verifies('web.html.escaped', 'passes Html, lists of it, numbers and nothing', () => {
    const items = ['a', '<b>'].map((text) => html`<li>${text}</li>`)
    const absent: string | undefined = undefined
    expect(`${html`<ul>${items}</ul>${1}${absent}${false}${raw('<hr>')}${[['&']]}`}`).toBe(
      '<ul><li>a</li><li>&lt;b&gt;</li></ul>1<hr>&amp;',
    )
  })

  verifies('web.html.escaped', 'shows marks that turn text around as a sign, and halves of characters too', () => {
    for (const mark of ['\u202e', '\u2066', '\u0000', '\u001b', '\ud800', '\udc00', '\u0085'])
      expect(`${html`${`a${mark}b`}`}`).toBe('a\ufffdb')
    expect(`${html`${'😀'}`}`).toBe('😀')
  })

  verifies('web.html.escaped', 'is the only way to Html', () => {
    expect(() => new Html('<b>', Symbol('made') as never)).toThrow()
  })
})
