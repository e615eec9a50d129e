/** A reservation was released by a person; its holder is told. */
import { freeLeases } from '../../../core/mail/freeing.ts'
import type { Submit } from '../forms.ts'
import { part } from '../page.ts'
import { at } from '../site.ts'
import { backTo, needField, needId } from './faults.ts'

export const submit: Submit = async ({ visit: { hub, caller }, params, fields }) => {
  const project = part(params, 'project')
  const ids = [needId(needField(fields, 'release'), 'release')]
  const freed = await freeLeases(hub, caller, project, { ids, patterns: [] })
  return {
    see: backTo(fields, at(project, 'file_reservations'), 'released'),
    receipt: {
      released: freed.map(({ id, agent, pattern, told }) => ({ id, agent, path_pattern: pattern, told })),
    },
  }
}
