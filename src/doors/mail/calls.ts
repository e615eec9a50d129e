/** The hints of the mail door, and the agent that a call concerns. */
import type { Refusal } from '../../core/contacts/judging.ts'
import { refusalError } from '../../core/messages/send.ts'
import type { Subject } from '../mcp/calls.ts'
import { type Hints, hintOf, type Reach } from '../mcp/table.ts'
import { and, otherwise, overHttp } from '../words/hints.ts'
import { offers } from './clusters.ts'
import type { MailScope } from './scope.ts'

/** The offered ones of these tools, as a sentence names them: `one or other`; empty if none is offered. */
const oneOf = ({ offers }: Reach, ...tools: string[]): string => tools.filter(offers).join(' or ')

/** A sentence that is there only if the tool is offered, or the called tool takes the argument. */
const ifOffered = ({ offers }: Reach, tool: string, sentence: string): string => (offers(tool) ? sentence : '')
const ifTaken = ({ takes }: Reach, argument: string, sentence: string): string => (takes(argument) ? sentence : '')

const say = (...sentences: string[]): string => sentences.filter((sentence) => sentence !== '').join(' ')

const agentsListed = (reach: Reach): string =>
  ifOffered(reach, 'list_agents', 'list_agents shows the agents of a project.')

const contactTools = ['request_contact', 'macro_contact_handshake'] as const

/** A hint names only tools that are offered, and arguments of the tools that it names or that were called (mail.hints.offered). */
export const hints: Hints = {
  PROJECT_NOT_FOUND: and(
    (reach) =>
      `For a new project call ${oneOf(reach, 'macro_start_session', 'ensure_project')} with human_key, the absolute path of your repository. resource://projects lists the existing ones.`,
  ),
  elsewhere: ({ hint = '' }, { takes }) =>
    say(
      `Check the address: ${['to_project', 'from_project'].find(takes) ?? 'the part after @'} names an existing project.`,
      hint,
      'resource://projects lists them.',
    ),
  AGENT_NOT_FOUND: and((reach) =>
    say(
      `Call ${oneOf(reach, 'macro_start_session', 'register_agent')} first: you are nobody in this project yet.`,
      agentsListed(reach),
      ifTaken(reach, 'project_key', "Check that project_key is the agent's own project."),
    ),
  ),
  no_agent: and((reach) =>
    say(
      ifTaken(reach, 'register_if_missing', 'Leave register_if_missing out to be registered.'),
      agentsListed(reach),
      ifTaken(reach, 'project_key', "Check that project_key is the agent's own project."),
    ),
  ),
  no_recipient: and(agentsListed),
  no_broadcast: and(agentsListed),
  no_target: and((reach) =>
    say(
      ifTaken(
        reach,
        'to_project',
        `project_key is your own project, to_project the one of ${reach.takes('target') ? 'target' : 'to_agent'}.`,
      ),
      agentsListed(reach),
    ),
  ),
  no_asker: and((reach) =>
    say(
      ifTaken(reach, 'from_project', 'project_key is your own project, from_project the one of from_agent.'),
      agentsListed(reach),
    ),
  ),
  oneself: and((reach) => ifTaken(reach, 'to_agent', 'to_agent is the one you ask.')),
  contact_first: (_, reach) =>
    reach.takes('auto_contact_if_blocked')
      ? `Send again with auto_contact_if_blocked: true, or call ${oneOf(reach, ...contactTools)} first.`
      : `Call ${oneOf(reach, ...contactTools)} first, and send again.`,
  contact_only: and((reach) =>
    say(
      `Ask with ${oneOf(reach, ...contactTools)}.`,
      ifOffered(reach, 'list_contacts', 'list_contacts shows the answer.'),
    ),
  ),
  contact_asked: and((reach) => ifOffered(reach, 'list_contacts', 'list_contacts shows its answer.')),
  CONTACT_NOT_FOUND: (_, reach) =>
    say(
      ifOffered(reach, 'list_contacts', 'list_contacts shows the requests.'),
      ifTaken(reach, 'from_project', 'project_key is your own project, from_project the one of from_agent.'),
      `To ask yourself, call ${oneOf(reach, ...contactTools)}.`,
    ),
  asked_elsewhere: and((reach) => ifTaken(reach, 'from_project', 'Pass that project as from_project.')),
  in_topic: and('Topics are answered at the bus door; here send_message reaches its sender.'),
  keyed: and(overHttp),
  contradicted: ({ hint = '' }) => hint,
  code_needed: ({ hint = '' }) => hint,
  no_files: and((reach) => ifTaken(reach, 'attachment_paths', 'attachment_paths and the Markdown take data URIs.')),
  FORBIDDEN: and((reach) => `${oneOf(reach, 'macro_start_session', 'register_agent')} gives you a name.`),
  MESSAGE_NOT_FOUND: otherwise((reach) =>
    say(
      `Call ${oneOf(reach, 'fetch_inbox', 'search_messages')} for the ids of messages.`,
      ifTaken(reach, 'project_key', 'Check project_key, and that the message was sent to this agent.'),
    ),
  ),
  THREAD_NOT_FOUND: otherwise(
    (reach) =>
      `Call ${oneOf(reach, 'fetch_inbox', 'search_messages')}: each message has its thread there. One without goes by its id.`,
  ),
}

/** The tools that a caller of this scope is offered, and the arguments of the tool that it called. */
export const reachIn = ({ tools }: MailScope, ...args: string[]): Reach => ({
  offers: (tool) => tools === 'all' || offers[tools].tools.has(tool),
  takes: (argument) => args.includes(argument),
})

/** The hint for a blocked recipient, in a receipt instead of an error. */
export const refusalHint = (refusal: Refusal, reach: Reach): string => hintOf(hints, refusalError(refusal), reach) ?? ''

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
