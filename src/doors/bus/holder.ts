/** Who a caller of the bus is: its process over stdio; over HTTP what the URL says, else its session. */
import { HubError } from '../../base/errors.ts'
import { commons, nameKey } from '../../base/names.ts'
import { thisProcess } from '../../base/processes.ts'
import { textFault } from '../../base/text.ts'
import { processHolder, sessionHolder, urlHolder } from '../../core/holders.ts'
import type { Holder } from '../../core/members.ts'
import { busNameFault } from '../fields.ts'
import type { CallContext } from '../mcp/table.ts'

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
  const { project = commons, agent } = query
  if (typeof project !== 'string' || project === '' || project.length > 1024 || textFault(project) !== undefined)
    throw new HubError(
      'INVALID_ARGUMENT',
      'The query parameter "project" must be one slug or key of 1 to 1024 characters.',
      {
        hint: 'Leave ?project= out to use the common project.',
      },
    )
  if (agent === undefined) return { scope: { project }, key: project }
  const fault = typeof agent === 'string' ? busNameFault(agent) : 'must be given once'
  if (fault !== undefined || typeof agent !== 'string')
    throw new HubError('INVALID_ARGUMENT', `The query parameter "agent" ${fault}.`, {
      hint: 'Use /bus/mcp?agent=<your name>.',
    })
  return { scope: { project, agent: agent.trim() }, key: `${project}/${nameKey(agent.trim())}` }
}

/** What tells one caller's calls from those of others; undefined if nothing does. */
export function holderKey({ project, process, agent }: BusScope, session?: string): string | undefined {
  if (process !== undefined) return processHolder(process)
  if (agent !== undefined) return urlHolder(project, agent)
  return session === undefined ? undefined : sessionHolder(session)
}

export function holderOf({ scope, session }: CallContext<BusScope>): Holder {
  const key = holderKey(scope, session)
  if (key !== undefined) return { project: scope.project, key }
  throw new HubError(
    'AGENT_NOT_JOINED',
    'Nothing in this call tells who you are: it has neither a session nor a name.',
    {
      hint: 'Put your name on the URL: /bus/mcp?agent=<name>, then call topic_join.',
    },
  )
}
