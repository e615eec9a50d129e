/** Text that others wrote, indented so that no line of it can pass for one of Parley. */
import { harmlessText } from './harmless.ts'
import type { Look } from './tables.ts'
import { wrap } from './width.ts'

export const indent = '    '
const narrowest = 20

/** The columns that are left for a body. */
export const bodyRoom = ({ tty, width }: Look): number =>
  tty ? Math.max(narrowest, width - indent.length) : Number.POSITIVE_INFINITY

/** A terminal would break long lines where it likes, also where the rest looks like a line of ours. */
export function bodyText(body: string, look: Look): string {
  return harmlessText(body)
    .trimEnd()
    .split('\n')
    .flatMap((line) => (look.tty ? wrap(line.replaceAll('\t', '    '), bodyRoom(look)) : [line]))
    .map((line) => (line === '' ? '\n' : `${indent}${line}\n`))
    .join('')
}
