/** The beginning of a body in a line of a list: its words, without the signs of Markdown around them. */

/** Each is bounded by the length of an excerpt, and none looks back. */
const signs: readonly (readonly [RegExp, string])[] = [
  [/!?\[([^[\]]{1,100})\]\([^()\s]{0,200}\)/g, '$1'],
  [/(\*\*|__|~~)(?=\S)([^*_~]{1,200})\1/g, '$2'],
  [/`+([^`]{1,200})`+/g, '$1'],
  [/^[ \t]*(?:#{1,6}|>|[-*+](?: \[[ xX]\])?)[ \t]+/gm, ''],
]

export const plainly = (excerpt: string): string =>
  signs
    .reduce((text, [sign, word]) => text.replace(sign, word), excerpt)
    .replace(/\s+/g, ' ')
    .trim()
