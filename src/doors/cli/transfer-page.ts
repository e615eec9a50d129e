/** An exported project as a page for people: a heading for each thread, and its messages below. Blind copies are left out. */
import type { ExportRecord, MessageRecord, Person } from '../../core/transfers/records.ts'
import { iso } from '../words/times.ts'
import { harmlessText, word } from './harmless.ts'
import { titleMarkdown } from './messages.ts'

const called = ({ name, project }: Person): string =>
  titleMarkdown(word(name) + (project === undefined ? '' : `@${project}`))

/** Renders one record after the other. */
export function pageOf(): (record: ExportRecord) => string {
  let agents = false
  return (record) => {
    switch (record.type) {
      case 'begin': {
        const { slug, key } = record.project
        return `# ${titleMarkdown(slug)}\n\n| | |\n|---|---|\n| project | ${titleMarkdown(key)} |\n| exported | ${iso(record.at)} |\n`
      }
      case 'agent': {
        const head = agents ? '' : '\n## Agents\n\n'
        agents = true
        const task = record.task === '' ? '' : `: ${titleMarkdown(record.task)}`
        return `${head}- ${called(record)} (${titleMarkdown(record.program)}, ${titleMarkdown(record.model)})${task}\n`
      }
      case 'thread': {
        const { uid, key, name, status } = record
        return `\n## ${titleMarkdown(name ?? key ?? 'A thread without a name')}\n\n<!-- thread: ${uid}, ${status} -->\n`
      }
      case 'message':
        return messagePage(record)
      case 'end':
        return ''
    }
  }
}

function messagePage({ id, seq, from, to, subject, importance, createdAt, body }: MessageRecord): string {
  const open = to.filter(({ kind }) => kind !== 'bcc')
  const receipts = open.map(({ readAt, ackedAt, ...who }) => {
    const state = ackedAt !== undefined ? ' (acknowledged)' : readAt !== undefined ? ' (read)' : ''
    return called(who) + state
  })
  const about = [called(from), ...(receipts.length === 0 ? [] : [`to ${receipts.join(', ')}`]), iso(createdAt)]
  const urgent = importance === 'normal' ? [] : [importance]
  const quoted = harmlessText(body)
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '>\n' : `> ${line}\n`))
    .join('')
  const title = subject === undefined ? '' : ` · ${titleMarkdown(subject)}`
  return `\n### ${seq}${title}\n\n${[...about, ...urgent].join(' · ')}\n\n<!-- message: ${id} -->\n\n${quoted}`
}
