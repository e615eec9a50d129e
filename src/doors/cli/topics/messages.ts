/** Messages as text: a line with the sender, and the body, indented so that it cannot pass for such a line. */
import type { Entry } from '../../../core/topics/transcript.ts'
import { iso } from '../../words/times.ts'
import { bodyRoom, bodyText, indent } from '../terminal/bodies.ts'
import { harmlessText, word } from '../terminal/harmless.ts'
import { type Look, type Painted, paint } from '../terminal/tables.ts'
import { displayWidth, truncate } from '../terminal/width.ts'

const separator = ' · '

export function messageText(entry: Entry, look: Look, time: string): string {
  const { seq, sender, kind } = entry
  const room = bodyRoom(look)
  const head: Painted[] = [
    { text: `#${seq} ${word(sender)}`, style: ['bold', 'cyan'] },
    { text: word(kind), style: kindColor[kind] ?? 'dim' },
    ...[time, ...reply(entry)].map((text) => ({ text, style: 'dim' as const })),
  ]
  let line = ''
  let used = 0
  for (const { text, style } of head) {
    const part = truncate(text, room)
    const fits = used + separator.length + displayWidth(part) <= room
    line += (used === 0 ? '' : fits ? paint(look, 'dim', separator) : `\n${indent}`) + paint(look, style, part)
    used = (fits ? used + separator.length : 0) + displayWidth(part)
  }
  return `${line}\n${bodyText(entry.body, look)}\n`
}

const kindColor: Readonly<Record<string, 'yellow' | 'green'>> = { question: 'yellow', answer: 'green' }

function reply({ replyToUid, replyToSeq }: Entry): string[] {
  if (replyToUid === undefined) return []
  return [`reply to ${replyToSeq === undefined ? word(replyToUid) : `#${replyToSeq}`}`]
}

const special = /[\\`*_{}[\]<>#|]/g
const markdown = (text: string): string => text.replace(special, '\\$&')

/** A text as a quotation of Markdown, which keeps its headings from becoming those of the page. */
export const quotation = (text: string): string =>
  harmlessText(text)
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '>\n' : `> ${line}\n`))
    .join('')

/** One message of an exported page. */
export function messageMarkdown(entry: Entry): string {
  const { seq, uid, sender, kind, createdAt, body } = entry
  const about = [markdown(word(sender)), markdown(word(kind)), iso(createdAt), ...reply(entry).map(markdown)]
  return `## ${seq} · ${about.join(' · ')}\n\n<!-- message_id: ${uid} -->\n\n${quotation(body)}\n`
}

export const titleMarkdown = (title: string): string => markdown(harmlessText(title).replaceAll('\n', ' '))
