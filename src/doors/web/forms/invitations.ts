/** An agent was invited, and its link is shown once; or an invitation was revoked. */
import { commons } from '../../../base/names.ts'
import { type InvitedDoor, invite, invitedDoors, revokeInvitation } from '../../../core/agents/invitations.ts'
import { longestDays, readDuration } from '../../words/durations.ts'
import { toInvited } from '../../words/invitations.ts'
import { FormFault, type Submit } from '../forms.ts'
import { withQuery } from '../site.ts'
import { checkedBy, needField } from './faults.ts'

export const submit: Submit = async ({ visit: { hub, caller, origin }, fields }) => {
  const project = fields.get('project')?.trim() || commons
  if (fields.has('revoke')) {
    const name = needField(fields, 'revoke')
    await revokeInvitation(hub, caller, { project, name })
    return { see: withQuery('/mail/invitations', { done: 'revoked' }), receipt: { agent: name, revoked: true } }
  }
  const ttlMs = readDuration(fields.get('expires') ?? '24h')
  if (ttlMs === undefined)
    throw new FormFault({ expires: `It must be a time such as 30m, 24h or 7d, at most ${longestDays}d.` })
  const usual = project === commons ? 'mailbox' : 'mail'
  const door: InvitedDoor = invitedDoors.find((one) => one === fields.get('door')) ?? usual
  const name = fields.get('name')?.trim() ?? ''
  const invited = await checkedBy(invite(hub, caller, { project, name, door, ttlMs }), {
    INVALID_ARGUMENT: 'name',
    CONFLICT: 'name',
    PROJECT_NOT_FOUND: 'project',
  })
  return { preview: true, receipt: toInvited({ ...invited, door }, origin) }
}
