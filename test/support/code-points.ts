/** Any character of Unicode, as the unit of a generated text. */
import fc from 'fast-check'

/** The surrogates, which are no characters by themselves. */
const [gap, gapLength] = [0xd800, 0x800]

/** For what fast-check calls 'binary', it makes a map of all 1,112,064 characters: a second, and 125 MB for as long as the worker lives. */
export const codePoints = fc.nat(0x10ffff - gapLength).map(
  (nth) => String.fromCodePoint(nth < gap ? nth : nth + gapLength),
  (text) => {
    const point = typeof text === 'string' ? text.codePointAt(0) : undefined
    if (point === undefined || String.fromCodePoint(point) !== text) throw new Error('This is not one character.')
    return point < gap ? point : point - gapLength
  },
)
