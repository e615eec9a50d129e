/** What the mail door adds to any call: the hints of its errors, and whom a call concerns. */
import type { HubError } from '../../base/errors.ts'
import type { Hints, Subject } from '../mcp/table.ts'

/** Where core has nothing more to the point to say. */
const otherwise =
  (hint: string) =>
  (error: HubError): string =>
    error.hint ?? hint

/** They also hold where only some tools are offered: each names one that every offer has, or a resource. */
export const hints: Hints = {
  PROJECT_NOT_FOUND:
    'Call macro_start_session or ensure_project with human_key, the absolute path of your repository. resource://projects shows the projects there are.',
  AGENT_NOT_FOUND: otherwise(
    "Call macro_start_session or register_agent to be a new agent, list_agents to see who is there. Check that project_key is the agent's own project.",
  ),
  MESSAGE_NOT_FOUND: otherwise(
    'Call fetch_inbox or search_messages for the ids of messages. Check project_key, and that the message was sent to this agent.',
  ),
  THREAD_NOT_FOUND: otherwise(
    'Call fetch_inbox or search_messages: each message names its thread_id. A message without one goes by its id.',
  ),
}

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
