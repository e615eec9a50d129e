/** Reminds the agents that are late with a message, one agent of all that it owes, or lets paused ones be woken again. */
import { HubError } from '../../../base/errors.ts'
import { remind, remindAgent } from '../../../core/pages/decisions.ts'
import { resumeLoop } from '../../../core/pages/loops.ts'
import type { Submit } from '../forms.ts'
import { backTo, needField, needId } from './faults.ts'

export const submit: Submit = async ({ visit: { hub, caller }, fields }) => {
  const resume = fields.get('resume')
  if (resume !== null) {
    const { id } = await resumeLoop(hub, caller, resume)
    return { see: backTo(fields, '/mail/attention', 'resumed'), receipt: { resumed: id } }
  }
  if (fields.has('remind_agent')) {
    const called = needField(fields, 'remind_agent')
    const at = called.lastIndexOf('@')
    if (at < 1) throw new HubError('INVALID_ARGUMENT', 'remind_agent must be Name@project.')
    const { agent, messages } = await remindAgent(hub, caller, called.slice(at + 1), called.slice(0, at))
    return {
      see: backTo(fields, '/mail/attention', messages.length > 0 ? 'reminded' : 'reminded-before'),
      receipt: { agent: `${agent.name}@${agent.project}`, reminded_of: messages },
    }
  }
  const messageId = needId(needField(fields, 'remind'), 'remind')
  const { reminded, waiting } = await remind(hub, caller, messageId)
  const names = (all: typeof reminded) => all.map(({ name, project }) => `${name}@${project}`)
  return {
    see: backTo(fields, '/mail/attention', reminded.length > 0 ? 'reminded' : 'reminded-before'),
    receipt: { message_id: messageId, reminded: names(reminded), waiting: names(waiting) },
  }
}
