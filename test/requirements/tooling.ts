/** Promises about the tooling resources, the token economy and health. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const tooling = [
  { id: 'mail.tools.complete', spec: 'DECISIONS mail 1', says: 'The mail door has the tools and resources of the spec’s tables, but for those about Git, and list_agents.' },
  { id: 'mail.tools.size', spec: 'DECISIONS all 2', says: 'tools/list of the mail door stays below 24,000 characters of compact JSON in both eras.' },
  { id: 'mail.tools.lint', spec: 'DECISIONS all 2', says: 'Names, schemas and annotations of the mail door are such that no client drops or renames a tool.' },
  { id: 'mail.tools.words', spec: 'mail.md Tools', says: 'Descriptions say what decides success: no broadcast, whom a reply reaches, what comes again, and more.' },
  { id: 'mail.tools.always-load', spec: 'DECISIONS all 16', says: 'macro_start_session, send_message and fetch_inbox stay in the prompt of clients that defer tools.' },
  { id: 'mail.offers.lists', spec: 'clients.md §4', says: '?tools=core and ?tools=macros on the URL offer at most fourteen tools, enough to settle contact.' },
  { id: 'mail.offers.refuses', spec: 'clients.md §4', says: 'A tool that is not offered is unknown, and the error says how to be offered it.' },
  { id: 'mail.offers.unknown', spec: 'clients.md §4', says: 'An offer that does not exist is refused with those that do.' },
  { id: 'mail.hints.own', spec: 'DESIGN Errors', says: 'The hint of an error names calls of the door that shows it.' },
  { id: 'mail.hints.message', spec: 'DESIGN Errors', says: 'Errors of resources and refusals carry the hint in the message too, for clients that show nothing else.' },
  { id: 'mail.hints.offered', spec: 'DECISIONS mail 26', says: 'A hint names only tools that this list offers, and arguments that they or the called tool take.' },
  { id: 'mail.resources.errors', spec: 'DESIGN Errors', says: 'An error of resources/read carries code and hint in its data, and the URI of what is not there.' },
  { id: 'mail.health.check', spec: 'mail.md API', says: 'health_check tells whether the database answers, where the server listens and what it is called.' },
  { id: 'mail.health.no-secrets', spec: 'DECISIONS post 2', says: 'No answer about the server itself holds a user, password, token or key.' },
  { id: 'mail.environment.read', spec: 'mail.md Resources', says: 'resource://config/environment shows how the server is set up.' },
  { id: 'mail.directory.derived', spec: 'mail.md Resources', says: 'resource://tooling/directory has each tool in one cluster, and playbooks of tools that exist.' },
  { id: 'mail.schemas.arguments', spec: 'mail.md Resources', says: 'resource://tooling/schemas has the required and optional arguments of each tool, and their other names.' },
  { id: 'mail.metrics.counts', spec: 'mail.md Resources', says: 'resource://tooling/metrics counts the calls and errors of each tool.' },
  { id: 'mail.metrics.snapshot', spec: 'mail.md Monitoring', says: 'With TOOL_METRICS_EMIT_ENABLED the log has a tool_metrics_snapshot every interval.' },
  { id: 'mail.locks.held', spec: 'mail.md Resources', says: 'resource://tooling/locks shows the background jobs that some process holds now, and by whom.' },
  { id: 'mail.capabilities.offered', spec: 'mail.md Resources', says: 'resource://tooling/capabilities tells what the caller may do as an agent, by what it is offered.' },
  { id: 'mail.recent.window', spec: 'mail.md Resources', says: 'resource://tooling/recent shows the calls of the last seconds and no older ones, the newest first.' },
  { id: 'mail.recent.filter', spec: 'mail.md Resources', says: 'Recent calls are found by agent without case, and by project under its slug or its key.' },
  { id: 'mail.recent.bounded', spec: 'mail.md Resources', says: 'Of the last calls, a fixed number, the tool, time, outcome, project and agent are kept in memory.' },
  { id: 'mail.log.calls', spec: 'mail.md Configuration', says: 'With TOOLS_LOG_ENABLED each call is a line at debug, without bodies, that no caller can forge.' },
  { id: 'mail.log.off', spec: 'mail.md Configuration', says: 'Without TOOLS_LOG_ENABLED calls are counted, but neither logged nor kept.' },
] as const satisfies readonly Requirement[]
