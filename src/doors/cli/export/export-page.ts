/** An exported project as a page for people: a heading for each thread, and its messages below. Blind copies are left out. */

import { ownWords } from '../../../base/preamble.ts'
import type { Attachment } from '../../../core/messages/stored-attachments.ts'
import type { ExportRecord, MessageRecord, Person } from '../../../core/transfers/records.ts'
import { iso } from '../../words/times.ts'
import { word } from '../terminal/harmless.ts'
import { quotation, titleMarkdown } from '../topics/messages.ts'

const called = ({ name, project }: Person): string =>
  titleMarkdown(word(name) + (project === undefined ? '' : `@${project}`))

/** Renders one record after the other. `beside`: the files of the messages are written beside the page. */
export function pageOf({ beside }: { beside: boolean }): (record: ExportRecord) => string {
  let agents = false
  return (record) => {
    switch (record.type) {
      case 'begin': {
        const { slug, key } = record.project
        return `# ${titleMarkdown(slug)}\n\n| | |\n|---|---|\n| project | ${titleMarkdown(key)} |\n| exported | ${iso(record.at)} |\n| attachments | ${beside ? 'in the folder `attachments` beside this page' : 'not written: they are in the archive of the project, and `--output` writes them beside the page'} |\n`
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
      case 'file':
      case 'end':
        return ''
    }
  }
}

function messagePage({ id, seq, from, to, subject, importance, createdAt, body, attachments }: MessageRecord): string {
  const open = to.filter(({ kind }) => kind !== 'bcc')
  const receipts = open.map(({ readAt, ackedAt, ended, ...who }) => {
    const state = ackedAt !== undefined ? 'acknowledged' : (ended ?? (readAt === undefined ? undefined : 'read'))
    return called(who) + (state === undefined ? '' : ` (${state})`)
  })
  const about = [called(from), ...(receipts.length === 0 ? [] : [`to ${receipts.join(', ')}`]), iso(createdAt)]
  const urgent = importance === 'normal' ? [] : [importance]
  const quoted = quotation(ownWords(from.name, body))
  const title = subject === undefined ? '' : ` · ${titleMarkdown(subject)}`
  return `\n### ${seq}${title}\n\n${[...about, ...urgent].join(' · ')}\n\n<!-- message: ${id} -->\n\n${quoted}${attachmentsPage(attachments, body)}`
}

/** Attachments that the body does not show. */
function attachmentsPage(attachments: readonly Attachment[], body: string): string {
  const lines = attachments.flatMap((one) => {
    if (one.kind === 'file')
      return [`- [${titleMarkdown(one.path)}](${one.path}) (${word(one.mediaType)}, ${one.bytes} bytes)\n`]
    if (one.kind === 'link') return [`- <${titleMarkdown(one.uri)}>\n`]
    const { dataUri } = one
    return dataUri === undefined || body.includes(dataUri) ? [] : [`- ![an image](${dataUri})\n`]
  })
  return lines.length === 0 ? '' : `\nAttachments:\n\n${lines.join('')}`
}
