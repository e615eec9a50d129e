/** Mail of an agent was marked as read by a person. */
import { HubError } from '../../../base/errors.ts'
import { isReserved } from '../../../base/names.ts'
import { markReadFor } from '../../../core/pages/decisions.ts'
import type { Submit } from '../forms.ts'
import { nextOf } from '../login.ts'
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
  const next = fields.get('next')
  const see = withQuery(next === null ? at(project, 'inbox', name) : (nextOf(next).split('?', 1)[0] ?? ''), {
    done: isReserved(name) ? 'seen' : 'read',
  })
  return { see, receipt: { agent: name, marked } }
}
