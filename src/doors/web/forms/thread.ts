/** A thread was answered, or a topic closed or opened again. */
import { answerThread, setTopicStatus } from '../../../core/pages/person-answers.ts'
import type { Submit } from '../forms.ts'
import { part } from '../page.ts'
import { at, withQuery } from '../site.ts'
import { backTo, checkedBy, needId, needWord } from './faults.ts'

export const submit: Submit = async ({ visit: { hub, caller }, params, fields }) => {
  const [project, thread] = [part(params, 'project'), part(params, 'thread')]
  const page = at(project, 'thread', thread)
  if (fields.has('status')) {
    const status = needWord(fields, 'status', ['open', 'closed'])
    await setTopicStatus(hub, caller, project, { thread, status })
    return {
      see: withQuery(page, { done: status === 'open' ? 'reopened' : 'closed' }),
      receipt: { thread_id: thread, status },
    }
  }
  const body = fields.get('body_md') ?? ''
  const asked = fields.get('answers')
  const to = asked === null ? undefined : needId(asked, 'answers')
  const { messageId } = await checkedBy(answerThread(hub, caller, project, { thread, body, to }))
  const anchor = messageId === undefined ? '' : `#m-${messageId}`
  return {
    see: fields.has('next') ? backTo(fields, page, 'answered') : `${withQuery(page, { done: 'answered' })}${anchor}`,
    receipt: { thread_id: thread, message_id: messageId ?? null },
  }
}
