/** Who a caller of the hub is: the agent of its key, else what the URL says. */
import { HubError } from '../../base/errors.ts'
import { agentNamePattern, agentNameRule, nameKey } from '../../base/names.ts'
import type { Looker } from '../../core/threads/lookers.ts'
import type { CallContext } from '../mcp/table.ts'
import { parseAddress, projectParameter } from '../words/fields.ts'

export interface HubScope {
  readonly project?: string
  readonly name?: string
}

export const hubPath = '/hub/mcp'

export function hubScope(_params: Record<string, string>, query: Record<string, unknown>) {
  const { agent } = query
  const [name, home] = agent === undefined ? [] : nameOf(agent)
  const project = query.project === undefined ? home : projectParameter(query)
  if (home !== undefined && project !== home)
    throw new HubError('INVALID_ARGUMENT', 'The parameters "agent" and "project" name two projects.', {
      hint: 'Leave ?project= out, or the "@" and what follows it in the name.',
    })
  const scope = { ...(project !== undefined && { project }), ...(name !== undefined && { name }) }
  return { scope, key: JSON.stringify([project, name === undefined ? undefined : nameKey(name)]) }
}

function nameOf(agent: unknown): [name: string, home?: string] {
  const [name = '', home] = typeof agent === 'string' ? parseAddress(agent) : []
  if (agentNamePattern.test(name) && home !== '') return home === undefined ? [name] : [name, home]
  throw new HubError('INVALID_ARGUMENT', `The query parameter "agent" must be ${agentNameRule}.`, {
    hint: 'Use /hub/mcp?agent=<your name>.',
  })
}

export const lookerOf = ({ caller, scope }: Pick<CallContext<HubScope>, 'caller' | 'scope'>): Looker => ({
  caller,
  ...scope,
})
