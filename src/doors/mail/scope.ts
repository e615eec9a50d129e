/** The scope of the mail door: the tools that its URL asks for, and who and where the caller says it is. */
import { HubError } from '../../base/errors.ts'
import { agentNamePattern, agentNameRule, nameKey } from '../../base/names.ts'
import type { Caller } from '../../core/access/callers.ts'
import { mayTakeName } from '../../core/access/rules.ts'
import { parseAddress } from '../words/addresses.ts'
import { projectParameter, runIn } from '../words/fields.ts'

const offers = ['all', 'core', 'macros'] as const

export interface MailScope {
  readonly tools: (typeof offers)[number]
  /** By the header X-Parley-Agent or ?agent=. */
  readonly name?: string
  /** By ?project=. */
  readonly project?: string
  /** The run that the client was started for. */
  readonly run?: string
}

/** `/mcp?tools=core` and `?tools=macros` keep the list of tools short; `?agent=` and `?project=` say who calls, and where. */
export function mailScope(
  _params: Record<string, string>,
  query: Record<string, unknown>,
  caller: Caller,
  called = 'The query parameter "agent"',
): { scope: MailScope; key: string } {
  const tools = offers.find((offer) => offer === (query.tools ?? 'all'))
  if (tools === undefined)
    throw new HubError('INVALID_ARGUMENT', 'The query parameter "tools" must be all, core or macros.', {
      hint: 'Leave ?tools= out to be offered every tool.',
    })
  if (query.agent === undefined && query.project === undefined) return { scope: { tools, ...runIn(query) }, key: tools }
  const [name, home] = query.agent === undefined ? [] : nameOf(query.agent, called)
  const project = query.project === undefined ? home : projectParameter(query)
  if (home !== undefined && project !== home)
    throw new HubError('INVALID_ARGUMENT', `${called} and ?project= on the URL name two projects.`, {
      hint: 'Leave ?project= out, or write the name without "@" and the project.',
    })
  // A token comes from anywhere: without the claim "agent" it is nobody, whatever stands beside it (hub.caller.token).
  const named = name !== undefined && mayTakeName(caller)
  const scope = { tools, ...(named && { name }), ...(project !== undefined && { project }), ...runIn(query) }
  return { scope, key: JSON.stringify([tools, project, named ? nameKey(name) : undefined]) }
}

function nameOf(agent: unknown, called: string): [name: string, home?: string] {
  const [name = '', home] = typeof agent === 'string' ? parseAddress(agent) : []
  if (agentNamePattern.test(name) && home !== '') return home === undefined ? [name] : [name, home]
  throw new HubError('INVALID_ARGUMENT', `${called} must be ${agentNameRule}.`, {
    hint: "Write your agent's name there, for example GreenCastle.",
  })
}
