/** Characters that look like another one: what a name looks like, whichever script it is written in (all.names.lookalikes). */
import { once } from './once.ts'

/**
 * By the letter or digit that each looks like, after Unicode's list of confusables (https://www.unicode.org/reports/tr39/):
 * those of scripts whose letters are taken for Latin ones. Other pairs differ by a stroke that a reader sees.
 */
const table: Readonly<Record<string, string>> = {
  A: 'АΑᎪᗅꓮ',
  B: 'ВΒᏴᗷꓐⲂ',
  C: 'СϹᏟꓚⲤ',
  D: 'Ꭰᗞꓓ',
  E: 'ЕΕᎬꓰⴹ',
  F: 'Ϝꓝᖴ',
  G: 'ԌᏀꓖ',
  H: 'НΗᎻᕼꓧⲎ',
  J: 'ЈͿᎫᒍꓙ',
  K: 'КΚᏦꓗⲔ',
  L: 'ᏞᒪꓡⳐ',
  M: 'МΜᎷᗰꓟⲘϺ',
  N: 'ΝꓠⲚ',
  O: '0ОΟՕⲞⵔꓳ〇०০੦૦୦௦౦೦൦๐໐၀',
  P: 'РΡᏢᑭꓑⲢ',
  Q: 'ⵕԚ',
  R: 'ᎡᏒᖇꓣ',
  S: 'ЅՏᏚꓢ',
  T: 'ТΤᎢꓔⲦ',
  U: 'Սᑌꓴ',
  V: 'ѴᏙᐯꓦⴸ',
  W: 'ԜᎳꓪ',
  X: 'ХΧꓫⲬⵝ',
  Y: 'УΥҮⲨꓬᎩ',
  Z: 'ΖᏃꓜ',
  a: 'аɑα',
  b: 'ЬƄᏏᑲ',
  c: 'сϲᴄⲥ',
  d: 'ԁᏧᑯ',
  e: 'еҽ',
  f: 'քẝϝ',
  g: 'ɡցƍ',
  h: 'һհᏂ',
  i: 'іɩιıᎥ',
  j: 'јϳ',
  k: 'кκĸⲕ',
  l: '1I|ІӀӏΙƖǀ∣ⵏᛁꓲוןا١۱ߊ',
  n: 'ոռ',
  o: 'оοσօⲟᴏᴑჿഠටסهەہ',
  p: 'рρϱⲣ',
  q: 'ԛգզ',
  r: 'гᴦⲅ',
  rn: 'm',
  s: 'ѕꜱƽ',
  t: 'τт',
  u: 'υսᴜʋ',
  v: 'νѵᴠט',
  w: 'ԝѡᴡաɯ',
  x: 'хχⲭ',
  y: 'уγүყʏⲩ',
  z: 'ᴢ',
  2: 'Ƨ',
  3: 'ЗӠƷȜⳌ',
  4: 'Ꮞ',
  5: 'Ƽ',
  6: 'бⳒᏮ',
  8: 'Ȣȣ৪੪ଃ',
  9: '৭੧୨',
  "'": '’‘ʼʹ`´',
}

/** Not needed for a start. */
const likeness = once(
  (): ReadonlyMap<string, string> =>
    new Map(Object.entries(table).flatMap(([like, chars]) => [...chars].map((char) => [char, like] as const))),
)

/** The look of a name: people mistake names with the same look for each other. Without case, as names are compared. */
export function lookOf(name: string): string {
  const plain = name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/\p{Pd}/gu, '-')
    .replace(/\s+/gu, ' ')
    .normalize('NFD')
  const known = likeness()
  return [...plain]
    .map((char) => known.get(char) ?? char)
    .join('')
    .toLowerCase()
    .normalize('NFC')
}
