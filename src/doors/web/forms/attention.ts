/** Reminds the agents that are late with a message. */
import { remind } from '../../../core/pages/decisions.ts'
import type { Submit } from '../forms.ts'
import { withQuery } from '../site.ts'
import { needField, needId } from './faults.ts'

export const submit: Submit = async ({ visit: { hub, caller }, fields }) => {
  const messageId = needId(needField(fields, 'remind'), 'remind')
  const { reminded, waiting } = await remind(hub, caller, messageId)
  const names = (all: typeof reminded) => all.map(({ name, project }) => `${name}@${project}`)
  return {
    see: withQuery('/mail/attention', { done: reminded.length > 0 ? 'reminded' : 'reminded-before' }),
    receipt: { message_id: messageId, reminded: names(reminded), waiting: names(waiting) },
  }
}
