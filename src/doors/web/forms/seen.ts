/** Everything there is counts as seen by the person who says so. */
import { markAllSeen } from '../../../core/pages/marks.ts'
import type { Submit } from '../forms.ts'
import { backTo } from './faults.ts'

export const submit: Submit = async ({ visit: { hub, caller, marks }, fields }) => {
  await markAllSeen(hub, caller, marks.person)
  return { see: backTo(fields, '/mail/unified-inbox', 'all-seen'), receipt: { seen: 'all' } }
}
