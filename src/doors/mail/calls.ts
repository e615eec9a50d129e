/** The hints of the mail door, and the agent that a call concerns. */
import type { Refusal } from '../../core/contacts/judging.ts'
import { refusalError } from '../../core/messages/send.ts'
import { type Hints, hintOf, type Subject } from '../mcp/table.ts'
import { and, otherwise, overHttp } from '../words/hints.ts'

/** For missing things a hint names a tool that every offer has, or a resource: only some tools may be offered. */
export const hints: Hints = {
  PROJECT_NOT_FOUND: and(
    'For a new project call macro_start_session or ensure_project with human_key, the absolute path of your repository. resource://projects lists the existing ones.',
  ),
  elsewhere: ({ hint = '' }) =>
    `Check the address: the part after @, or to_project or from_project, names an existing project. ${hint} resource://projects lists them.`,
  AGENT_NOT_FOUND: otherwise(
    "Call macro_start_session or register_agent to be a new agent, list_agents to see the others. Check that project_key is the agent's own project.",
  ),
  no_target: and(
    'project_key is your own project, to_project the one of to_agent; list_agents shows the agents of a project.',
  ),
  no_asker: and(
    'project_key is your own project, from_project the one of from_agent; list_agents shows the agents of a project.',
  ),
  oneself: and('to_agent is the one you ask.'),
  contact_first: 'Send again with auto_contact_if_blocked: true, or call request_contact first.',
  contact_only: and('Ask with request_contact or macro_contact_handshake; list_contacts shows the answer.'),
  contact_asked: and(
    'The answer comes with respond_contact, and list_contacts shows it. request_contact sends a message about the request.',
  ),
  CONTACT_NOT_FOUND:
    'Call list_contacts to see the requests; project_key is your own project, from_project the one of from_agent. To ask yourself, call request_contact.',
  asked_elsewhere: and('Pass that project as from_project.'),
  in_topic: and('The bus door has topics: topic_join there, then sync.'),
  keyed: and(overHttp),
  FORBIDDEN: and('register_agent gives you a name.'),
  MESSAGE_NOT_FOUND: otherwise(
    'Call fetch_inbox or search_messages for the ids of messages. Check project_key, and that the message was sent to this agent.',
  ),
  THREAD_NOT_FOUND: otherwise(
    'Call fetch_inbox or search_messages: each message names its thread_id. A message without one goes by its id.',
  ),
}

/** The hint for a blocked recipient, in a receipt instead of an error. */
export const refusalHint = (refusal: Refusal): string => hintOf(hints, refusalError(refusal)) ?? ''

/** The agent that calls, by whatever name the tool has for it. */
export function subject(tool: string, args: Readonly<Record<string, unknown>>): Subject {
  return {
    project: args.project_key ?? args.human_key,
    agent:
      tool === 'respond_contact'
        ? args.to_agent
        : (args.agent_name ?? args.sender_name ?? args.requester ?? args.from_agent ?? args.name),
  }
}
