/** The identity of a caller of the bus: its process over stdio; over HTTP its key or token, the name on its URL, or its session. */
import { HubError } from '../../base/errors.ts'
import { busNameFault, commons, nameKey } from '../../base/names.ts'
import { thisProcess } from '../../base/processes.ts'
import { agentHolder, processHolder, sessionHolder, urlHolder } from '../../core/access/holders.ts'
import { agentOf } from '../../core/access/rules.ts'
import type { Holder } from '../../core/topics/members.ts'
import type { CallContext } from '../mcp/table.ts'
import { projectParameter } from '../words/fields.ts'

export interface BusScope {
  readonly project: string
  /** The process that speaks over stdio. */
  readonly process?: string
  /** The name that the URL gives the caller. */
  readonly agent?: string
}

export const busPath = '/bus/mcp'

export const processScope = (project: string = commons) => ({ project, process: thisProcess() })

export function busScope(_params: Record<string, string>, query: Record<string, unknown>) {
  const project = projectParameter(query)
  const { agent } = query
  if (agent === undefined) return { scope: { project }, key: JSON.stringify([project]) }
  const fault = typeof agent === 'string' ? busNameFault(agent) : 'must be given once'
  if (fault !== undefined || typeof agent !== 'string')
    throw new HubError('INVALID_ARGUMENT', `The query parameter "agent" ${fault}.`, {
      hint: 'Use /bus/mcp?agent=<your name>.',
    })
  return { scope: { project, agent: agent.trim() }, key: JSON.stringify([project, nameKey(agent.trim())]) }
}

/**
 * The key that tells one caller's calls from those of others; undefined if there is none. An API key proves more than a session: a join
 * with it holds for all clients of that agent, with a session or without (bus.http.key).
 */
function holderKey({ caller, scope, session }: CallContext<BusScope>): string | undefined {
  if (scope.process !== undefined) return processHolder(scope.process)
  const me = agentOf(caller)
  if (me !== undefined) return agentHolder(me.agentId)
  if (scope.agent !== undefined) return urlHolder(scope.agent)
  return session === undefined ? undefined : sessionHolder(session)
}

export function holderOf(context: CallContext<BusScope>): Holder {
  const { caller, scope } = context
  const key = holderKey(context)
  if (key !== undefined) return { caller, project: scope.project, key, named: scope.agent }
  throw new HubError(
    'AGENT_NOT_JOINED',
    'This call does not say who you are: it has no session, no name, and no key of an agent.',
    { reason: 'nameless' },
  )
}
