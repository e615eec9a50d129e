/** The images of a Markdown text. */
import { describe, expect, test } from 'vitest'
import { listImages, replaceImages } from './markdown.ts'

const found = (text: string) => listImages(text).map(({ address }) => address)

describe('Images of a text', () => {
  test.each([
    ['![a](b.png)', ['b.png']],
    ['![](b.png) and ![x]( c.png )', ['b.png', 'c.png']],
    ['![a](<my file.png> "title")', ['my file.png']],
    ["![a](b.png 'title')", ['b.png']],
    ['[![badge](b.png)](https://x.example)', ['b.png']],
    ['![two\nlines](b.png)', ['b.png']],
    ['![a](data:image/png;base64,AA+/=)', ['data:image/png;base64,AA+/=']],
    ['![a](b.png', []],
    ['![a] (b.png)', []],
    ['![a][ref] ![b](c.png)', ['c.png']],
    ['![a][ref] [b](c.png)', []],
    ['![a][ref] `![b](c.png)`', []],
    ['![a]()', []],
    ['[a](b.png)', []],
    ['`![a](b.png)` ![c](d.png)', ['d.png']],
    ['``a ` ![a](b.png)`` ![c](d.png)', ['d.png']],
    ['a ` b ![c](d.png)', ['d.png']],
    ['```\n![a](b.png)\n```\n![c](d.png)', ['d.png']],
    ['  ~~~md\n![a](b.png)\n```\n~~~~\n![c](d.png)', ['d.png']],
    ['```\n![a](b.png)', []],
    ['text ``` ![a](b.png)', ['b.png']],
    ['![![![x](b.png)', ['b.png']],
  ])('%j', (text, addresses) => {
    expect(found(text)).toEqual(addresses)
  })

  test('are replaced in their places, brackets included', () => {
    const text = 'a ![x](<my file.png> "t") b ![y](c.png)'
    const places = listImages(text).map((place, n) => ({ ...place, by: `${n}.webp` }))
    expect(replaceImages(text, places)).toBe('a ![x](0.webp "t") b ![y](1.webp)')
  })

  test('of hostile texts are looked for in little time', () => {
    const runs = Array.from({ length: 2000 }, (_, n) => '`'.repeat(n + 1)).join(' x ')
    const hostile = ['![', '![](', '![](<', '![](a "', '![]', '`![', '![`', '~~~', '![](data:image/png,', '\n```a']
    for (const text of [...hostile.map((part) => `${part.repeat(2 ** 22 / part.length)}](`), `![${runs}`]) {
      const before = performance.now()
      listImages(text)
      // The worst takes 20 ms; in squares of the length it would be hours.
      expect(performance.now() - before, text.slice(0, 12)).toBeLessThan(5000)
    }
  })
})
