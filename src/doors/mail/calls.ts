/** What the mail door adds to any call: the hints of its errors, and whom a call concerns. */
import type { HubError } from '../../base/errors.ts'
import type { Refusal } from '../../core/contacts/judging.ts'
import { refusalError } from '../../core/messages/send.ts'
import { type Hints, hintOf, type Subject } from '../mcp/table.ts'

/** Where core has nothing more to the point to say. */
const otherwise =
  (hint: string) =>
  (error: HubError): string =>
    error.hint ?? hint

/** What core says, and how it is called here. */
const and =
  (calls: string) =>
  ({ hint }: HubError): string =>
    hint === undefined ? calls : `${hint} ${calls}`

/** What is not there is said so that it also holds where only some tools are offered: with one that every offer has, or a resource. */
export const hints: Hints = {
  PROJECT_NOT_FOUND:
    'Call macro_start_session or ensure_project with human_key, the absolute path of your repository. resource://projects shows the projects there are.',
  elsewhere:
    'Check the address: the part after @, or to_project or from_project, is the slug of a project that there is. resource://projects lists them.',
  AGENT_NOT_FOUND: otherwise(
    "Call macro_start_session or register_agent to be a new agent, list_agents to see who is there. Check that project_key is the agent's own project.",
  ),
  no_target: and(
    'project_key is your own project, to_project the one of whom you ask; list_agents shows who is where.',
  ),
  no_asker: and('project_key is your own project, from_project the one of who asked; list_agents shows who is where.'),
  oneself: and('It is to_agent whom you ask.'),
  contact_first: 'Send again with auto_contact_if_blocked: true, or call request_contact first.',
  contact_only: and('Ask with request_contact or macro_contact_handshake; list_contacts tells whether it has.'),
  contact_asked: and(
    'It does so with respond_contact; list_contacts tells. request_contact sends it a message about it.',
  ),
  CONTACT_NOT_FOUND:
    'Call list_contacts to see who asked; project_key is your own project, from_project the one of who asked. To ask yourself, call request_contact.',
  asked_elsewhere: and('It goes into from_project.'),
  FORBIDDEN: and('register_agent gives you one.'),
  MESSAGE_NOT_FOUND: otherwise(
    'Call fetch_inbox or search_messages for the ids of messages. Check project_key, and that the message was sent to this agent.',
  ),
  THREAD_NOT_FOUND: otherwise(
    'Call fetch_inbox or search_messages: each message names its thread_id. A message without one goes by its id.',
  ),
}

/** The hint of somebody who was not reached, in a receipt instead of an error. */
export const refusalHint = (refusal: Refusal): string => hintOf(hints, refusalError(refusal)) ?? ''

/** Who calls, by whatever name the tool has for it. */
export function subject(tool: string, args: Readonly<Record<string, unknown>>): Subject {
  return {
    project: args.project_key ?? args.human_key,
    agent:
      tool === 'respond_contact'
        ? args.to_agent
        : (args.agent_name ?? args.sender_name ?? args.requester ?? args.from_agent ?? args.name),
  }
}
