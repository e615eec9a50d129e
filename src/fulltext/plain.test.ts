/** The beginning of a body, as lists show it. */
import { describe, expect } from 'vitest'
import { verifies } from '../../test/support/verifies.ts'
import { plainly } from './plain.ts'

describe('An excerpt', () => {
  verifies('web.inbox.excerpt', 'has the words of a body, without the signs of Markdown', () => {
    for (const [body, shown] of [
      ['The tables move in **three steps**, ~~two~~ four.', 'The tables move in three steps, two four.'],
      ['Fails with `column orders.v2_id does not exist`.', 'Fails with column orders.v2_id does not exist.'],
      ['# Plan\n\n- [x] one\n- two\n> three', 'Plan one two three'],
      ['See [the plan](https://example.com/plan) ![p](a.png)', 'See the plan p'],
      ['snake_case_name, 2 * 3 * 4, a > b, x - 1', 'snake_case_name, 2 * 3 * 4, a > b, x - 1'],
      ['<script>alert(1)</script> & "q"', '<script>alert(1)</script> & "q"'],
      ['**cut off', '**cut off'],
      ['', ''],
      ['Plan\n---\n\nOne\n\n***\n\nTwo\n====', 'Plan One Two'],
      ['```sql\nSELECT 1\n```\nDone: `cut off', 'SELECT 1 Done: cut off'],
      ['| step | rows |\n|---|--:|\n| fill | 12 |', 'step · rows fill · 12'],
      ['a | b\n--|--\n1 | 2', 'a | b 1 | 2'],
      ['> > ## Why\n> because <https://example.com/a>', 'Why because https://example.com/a'],
    ] as const)
      expect(plainly(body)).toBe(shown)
  })
})
