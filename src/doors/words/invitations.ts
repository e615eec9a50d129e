/** Invitations as the command line and the pages say them. */
import type { Invitation, Invited, InvitedDoor } from '../../core/agents/invitations.ts'
import { iso } from './times.ts'

/** A new invitation with its link, which is shown once. `url`: the server as its clients know it. */
export const toInvited = ({ agent, project, door, code, expiresAt }: Invited & { door: InvitedDoor }, url: string) => ({
  agent,
  project,
  door,
  link: `${url}/join/${agent}-${code}`,
  expires_at: iso(expiresAt),
})

export type InvitedWords = ReturnType<typeof toInvited>

/** The line to pass on. */
export const joinLine = (link: string): string => `npx parley-hub join ${link}`

export const toInvitation = ({ agent, project, door, createdAt, expiresAt }: Invitation) => ({
  agent,
  project,
  door,
  created_at: iso(createdAt),
  expires_at: iso(expiresAt),
})
