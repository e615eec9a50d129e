/** The mail door at /mcp: mail for coding agents in a repository, with identities, threads, contacts, leases and search. */
import type { Hub } from '../../core/hub/hub.ts'
import type { Door } from '../mcp/table.ts'
import type { About } from './about.ts'
import { hints, subject } from './calls.ts'
import { bindMailSession } from './client-sessions.ts'
import { instructions, offers } from './clusters.ts'
import { greetMail, mailConnection } from './connection.ts'
import { prompts } from './prompts.ts'
import { leaseResources } from './resources/leases.ts'
import { mailResources } from './resources/mail.ts'
import { projectResources } from './resources/projects.ts'
import { toolingResources } from './resources/tooling.ts'
import type { MailScope } from './scope.ts'
import { contactTools } from './tools/contacts.ts'
import { guardTools } from './tools/guard.ts'
import { identityTools } from './tools/identities.ts'
import { leaseTools } from './tools/leases.ts'
import { macroTools } from './tools/macros.ts'
import { messageTools } from './tools/messages.ts'
import { searchTools } from './tools/search.ts'
import { summaryTools } from './tools/summaries.ts'
import { toolingTools } from './tools/tooling.ts'

export function mailDoor(hub: Hub, about: About): Door<MailScope> {
  const tools = [
    ...toolingTools(hub, about),
    ...identityTools(hub),
    ...messageTools(hub),
    ...contactTools(hub),
    ...leaseTools(hub),
    ...guardTools(hub, about),
    ...searchTools(hub),
    ...summaryTools(hub),
    ...macroTools(hub),
  ]
  return {
    name: 'mail',
    title: 'Parley mail',
    instructions: instructions('file_reservation_paths'),
    toldInstructions: instructions('file_reservation_paths', true),
    connection: mailConnection(hub),
    greet: (context) => greetMail(hub, context),
    tools,
    resources: [
      ...projectResources(hub),
      ...mailResources(hub),
      ...leaseResources(hub),
      ...toolingResources({ hub, about, tools }),
    ],
    prompts,
    terse: true,
    hints,
    offer: ({ tools }) => (tools === 'all' ? undefined : offers[tools]),
    subject,
    fromSession: bindMailSession(hub),
  }
}
