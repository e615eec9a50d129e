/** Initials of a name: the first choice, and others for when somebody beside it has the same. */

/** The capitals of `GreenCastle`, else the beginnings of the first two words, else the first two letters; `Agent17` is `A17`. */
export function initials(name: string): string {
  const number = /\d{1,2}$/.exec(name)?.[0]
  if (number !== undefined && number !== name) return `${[...name][0] ?? ''}${number}`.toUpperCase()
  const capitals = [...name.matchAll(/\p{Lu}/gu)].map(([letter]) => letter)
  if (capitals.length >= 2) return capitals.slice(0, 2).join('')
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const [first = '', second] = words
  if (second !== undefined) return `${[...first][0] ?? ''}${[...second][0] ?? ''}`.toUpperCase()
  return [...first].slice(0, 2).join('').toUpperCase() || '·'
}

/** The first choice that nobody has: other letters of the name, and at last a number. */
export function freeInitials(name: string, isTaken: (initials: string) => boolean): string {
  const usual = initials(name)
  if (!isTaken(usual)) return usual
  const [first = '·', ...letters] = [...name].filter((char) => /[\p{L}\p{N}]/u.test(char))
  const start = first.toUpperCase()
  for (const letter of letters) {
    const tried = `${start}${letter.toLowerCase()}`
    if (!isTaken(tried)) return tried
  }
  for (let number = 2; number < 100; number++) if (!isTaken(`${start}${number}`)) return `${start}${number}`
  return usual
}
