/** Messages and conversations as plain text: Markdown with a few lines of head, as they would be mailed. */
import { ownWords } from '../../base/preamble.ts'
import type { PageMessage } from '../../core/pages/page-message.ts'
import { iso } from '../words/times.ts'
import { addressIn } from './shapes.ts'

interface MessageWithBody extends PageMessage {
  readonly body: string | undefined
}

/** A head that no body can forge: it is one line a field, and what it holds has no line breaks. */
function headOf(message: MessageWithBody): string[] {
  const address = addressIn(message.project)
  const line = (name: string, value: string) => (value === '' ? [] : [`${name}: ${value.replace(/\s+/g, ' ')}`])
  return [
    ...line('Subject', message.subject),
    ...line('From', address(message.from)),
    ...line('To', message.to.map(address).join(', ')),
    ...line('Cc', message.cc.map(address).join(', ')),
    ...line('Date', iso(message.createdAt)),
    ...line('Message', String(message.id)),
    ...line('Thread', message.thread ?? ''),
    ...line('Importance', message.importance === 'normal' ? '' : message.importance),
  ]
}

export const messageText = (message: MessageWithBody): string =>
  `${headOf(message).join('\n')}\n\n${message.sealed ? '(sealed)' : ownWords(message.from.name, message.body ?? '')}\n`

export const threadText = (title: string, messages: readonly MessageWithBody[]): string =>
  `# ${title.replace(/\s+/g, ' ')}\n\n${messages.map(messageText).join('\n---\n\n')}`
