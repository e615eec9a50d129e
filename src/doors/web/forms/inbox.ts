/** Mail of an agent was marked as read by a person. */
import { HubError } from '../../../base/errors.ts'
import { isReserved } from '../../../base/names.ts'
import { markReadFor } from '../../../core/pages/decisions.ts'
import type { Submit } from '../forms.ts'
import { part } from '../page.ts'
import { at } from '../site.ts'
import { backTo, needId } from './faults.ts'

const mostIds = 1000
const mostUndone = 50

export const submit: Submit = async ({ visit: { hub, caller }, params, fields }) => {
  const [project, name] = [part(params, 'project'), part(params, 'agent')]
  const ids = fields.get('all') === '1' ? 'all' : fields.getAll('read').map((id) => needId(id, 'read'))
  if (ids.length === 0 || ids.length > mostIds)
    throw new HubError('INVALID_ARGUMENT', `Name 1 to ${mostIds} messages in read, or all=1.`)
  const marked = await markReadFor(hub, caller, project, { name, ids })
  // Of one or a page of them; of a whole mailbox nobody wants all back.
  const undo = ids === 'all' || marked === 0 || ids.length > mostUndone ? undefined : [project, name, ...ids]
  const see = backTo(fields, at(project, 'inbox', name), isReserved(name) ? 'seen' : 'read', undo)
  return { see, receipt: { agent: name, marked } }
}
