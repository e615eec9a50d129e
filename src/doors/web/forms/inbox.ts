/** Mail of an agent was marked as read by a person. */
import { HubError } from '../../../base/errors.ts'
import { markReadFor } from '../../../core/oversight/deciding.ts'
import type { Submit } from '../forms.ts'
import { part } from '../page.ts'
import { at, withQuery } from '../site.ts'
import { needId } from './faults.ts'

const mostIds = 1000

export const submit: Submit = async ({ visit: { hub, caller }, params, fields }) => {
  const [project, name] = [part(params, 'project'), part(params, 'agent')]
  const ids = fields.get('all') === '1' ? 'all' : fields.getAll('read').map((id) => needId(id, 'read'))
  if (ids.length === 0 || ids.length > mostIds)
    throw new HubError('INVALID_ARGUMENT', `Name 1 to ${mostIds} messages in read, or all=1.`)
  const marked = await markReadFor(hub, caller, project, { name, ids })
  return { see: withQuery(at(project, 'inbox', name), { done: 'read' }), receipt: { agent: name, marked } }
}
