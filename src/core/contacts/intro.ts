/** The message about a request for contact. */
import type { Agent } from '../agents/agents.ts'

interface Introduced {
  readonly sender: Agent
  /** The slug of the sender's project. */
  readonly slug: string
  readonly target: Agent
  readonly reason: string
}

/** The reason of a request that a refused message made. */
export const triedToWrite = 'It tried to send you a message.'

export function introMessage({ sender, slug, target, reason }: Introduced) {
  const elsewhere = sender.projectId === target.projectId ? '' : `, from_project: "${slug}"`
  return {
    subject: `Contact request from ${sender.name}`,
    body: `${sender.name} (project ${slug}) asks for contact. Its reason: ${reason}\n\nTo answer, call respond_contact at the mail door with to_agent: "${target.name}", from_agent: "${sender.name}"${elsewhere} and accept: true or false; or answer at the post door by the connection_id that your inbox shows: POST /connections/{connection_id}/approve or /deny, or mailbox_approve.`,
    ackRequired: true,
  }
}
