/** The composer was sent: a preview, or one message in each project (web.forms.compose). */
import { withPreamble } from '../../../base/preamble.ts'
import { sendAsOverseer } from '../../../core/pages/overseer.ts'
import { toSentReceipt } from '../../words/page-mail.ts'
import type { Submit } from '../forms.ts'
import { at, withQuery } from '../site.ts'
import { checkedBy } from './faults.ts'

export const submit: Submit = async ({ visit: { hub, caller }, params, fields }) => {
  const body = fields.get('body_md') ?? ''
  if (fields.get('action') === 'preview')
    return { preview: true, receipt: { preview: true, body_md: withPreamble(body) } }
  if (fields.get('action') === 'filter') return { preview: true, receipt: { preview: true } }
  const done = await checkedBy(
    sendAsOverseer(hub, caller, {
      recipients: fields.getAll('recipients').filter((name) => name !== ''),
      project: params.project,
      subject: fields.get('subject') ?? '',
      body,
      thread: fields.get('thread_id') || undefined,
    }),
  )
  const [first] = done.sent
  const page = first === undefined ? '/mail' : at(first.project, 'message', first.messageId)
  return {
    see: withQuery(done.sent.length > 1 ? '/mail' : page, { done: 'sent' }),
    receipt: toSentReceipt(done),
  }
}
