/** A suggestion that two projects belong together was confirmed or dismissed. */
import { decideRelated } from '../../../core/pages/related.ts'
import type { Submit } from '../forms.ts'
import { part } from '../page.ts'
import { backTo, needField, needWord } from './faults.ts'

export const submit: Submit = async ({ visit: { hub, caller }, params, fields }) => {
  const project = part(params, 'project')
  const confirm = needWord(fields, 'decision', ['confirm', 'dismiss']) === 'confirm'
  const other = needField(fields, 'other')
  await decideRelated(hub, caller, project, { other, confirm })
  const status = confirm ? 'confirmed' : 'dismissed'
  return { see: `${backTo(fields, '/mail', status)}#related`, receipt: { project, other, status } }
}
