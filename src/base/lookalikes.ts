/** Names that could pass for another: characters that nobody sees, and letters of scripts that do not belong together. */
import { once } from './once.ts'

/** Most names are: they need no other look. */
export const isAscii = (text: string): boolean => !/\P{ASCII}/u.test(text)

/** Not needed for a start, and it takes 20 ms. */
const emoji = once(() => /\p{RGI_Emoji}/gv)

/** U+2800 is a blank that Unicode counts as a visible pattern of Braille. */
const invisible = /[\p{Default_Ignorable_Code_Point}\p{C}\p{Zl}\p{Zp}\u2800]/u

/** A family or a flag is one emoji made of several, joined by characters that alone are invisible (bus.names.visible). */
export const hasInvisible = (text: string): boolean => invisible.test(text) && invisible.test(text.replace(emoji(), ''))

/** The scripts that are written together: Unicode's level "highly restrictive" (https://www.unicode.org/reports/tr39/#Restriction_Level_Detection). */
const together = ['Latn Hani Hira Kana', 'Latn Hani Bopo', 'Latn Hani Hang']

/** Scripts that are in use today. All others count as one: their letters are taken for no letter of these. */
const alone = (
  'Arab Armn Beng Cans Cher Cyrl Deva Ethi Geor Grek Gujr Guru Hebr Java Khmr Knda Laoo Lisu Mlym Mong Mymr Nkoo Orya ' +
  'Sinh Syrc Taml Telu Tfng Thaa Thai Tibt Vaii Yiii'
).split(' ')

const classOf = (property: 'sc' | 'scx', scripts: readonly string[]): string =>
  scripts.map((script) => `\\p{${property}=${script}}`).join('')

/** Digits, signs, emoji and accents belong to every script. */
const shared = classOf('sc', ['Zyyy', 'Zinh'])

/** Not needed for a start, and they take 25 ms. */
const fitting = once((): readonly RegExp[] => [
  ...[...together, ...alone].map((set) => new RegExp(`^[${classOf('scx', set.split(' '))}${shared}]*$`, 'u')),
  new RegExp(`^[^${classOf('sc', [...new Set([...together, ...alone].join(' ').split(' '))])}]*$`, 'u'),
])

/** Whether a text has letters of scripts that nobody writes in one word, such as a Cyrillic "а" among Latin letters. */
export const mixesScripts = (text: string): boolean => !fitting().some((set) => set.test(text))
