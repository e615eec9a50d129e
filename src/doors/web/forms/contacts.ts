/** A request for contact was approved or denied by a person. */
import { decideContact } from '../../../core/pages/decisions.ts'
import type { Submit } from '../forms.ts'
import { part } from '../page.ts'
import { at } from '../site.ts'
import { backTo, needField, needWord } from './faults.ts'

export const submit: Submit = async ({ visit: { hub, caller }, params, fields }) => {
  const project = part(params, 'project')
  const accept = needWord(fields, 'decision', ['approve', 'deny']) === 'approve'
  const [from, to] = [needField(fields, 'from'), needField(fields, 'to')]
  const { status } = await decideContact(hub, caller, project, { from, to, accept })
  return {
    see: backTo(
      fields,
      at(project, 'contacts'),
      accept ? 'approved' : 'denied',
      accept ? undefined : [project, from, to],
    ),
    receipt: { from, to, status },
  }
}
