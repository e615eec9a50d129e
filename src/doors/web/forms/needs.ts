/** Lines of Needs you: reminds agents that are late, lets paused ones be woken again, retries or drops a dead letter. */
import { HubError } from '../../../base/errors.ts'
import { dropDeadLetter, retryDeadLetter } from '../../../core/pages/dead-letters.ts'
import { remind, remindAgent } from '../../../core/pages/decisions.ts'
import { resumeLoop } from '../../../core/pages/loops.ts'
import type { Who } from '../../../core/pages/page-message.ts'
import type { Submit } from '../forms.ts'
import { backTo, needField, needId } from './faults.ts'

const list = '/mail/attention'

/** By the button that was pressed. */
const acts: Readonly<Record<string, Submit>> = {
  async resume({ visit: { hub, caller }, fields }) {
    const { id } = await resumeLoop(hub, caller, needField(fields, 'resume'))
    return { see: backTo(fields, list, 'resumed', [id]), receipt: { resumed: id } }
  },
  async retry({ visit: { hub, caller }, fields }) {
    const messageId = needId(needField(fields, 'retry'), 'retry')
    const back = await retryDeadLetter(hub, caller, messageId)
    return { see: backTo(fields, list, 'retried'), receipt: { message_id: messageId, retried: back.map(written) } }
  },
  async drop({ visit: { hub, caller }, fields }) {
    const messageId = needId(needField(fields, 'drop'), 'drop')
    const gone = await dropDeadLetter(hub, caller, messageId)
    const see = backTo(fields, list, 'dropped', [messageId])
    return { see, receipt: { message_id: messageId, dropped: gone.map(written) } }
  },
  async remind_agent({ visit: { hub, caller }, fields }) {
    const called = needField(fields, 'remind_agent')
    const at = called.lastIndexOf('@')
    if (at < 1) throw new HubError('INVALID_ARGUMENT', 'remind_agent must be Name@project.')
    const { agent, messages } = await remindAgent(hub, caller, called.slice(at + 1), called.slice(0, at))
    return {
      see: backTo(fields, list, messages.length > 0 ? 'reminded' : 'reminded-before'),
      receipt: { agent: written(agent), reminded_of: messages },
    }
  },
  async remind({ visit: { hub, caller }, fields }) {
    const messageId = needId(needField(fields, 'remind'), 'remind')
    const { reminded, waiting } = await remind(hub, caller, messageId)
    return {
      see: backTo(fields, list, reminded.length > 0 ? 'reminded' : 'reminded-before'),
      receipt: { message_id: messageId, reminded: reminded.map(written), waiting: waiting.map(written) },
    }
  },
}

const written = ({ name, project }: Who): string => `${name}@${project}`

export const submit: Submit = (submission) => {
  const [, act = acts.remind] = Object.entries(acts).find(([name]) => submission.fields.has(name)) ?? []
  if (act === undefined) throw new HubError('INVALID_ARGUMENT', `The form needs ${Object.keys(acts).join(' or ')}.`)
  return act(submission)
}
