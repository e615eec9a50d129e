/** The identity of a caller of the bus: its process over stdio; over HTTP its key or token, the name on its URL, or its session. */
import { HubError } from '../../base/errors.ts'
import { busNameFault, nameKey } from '../../base/names.ts'
import { thisProcess } from '../../base/processes.ts'
import { agentHolder, processHolder, sessionHolder, urlHolder } from '../../core/access/holders.ts'
import { agentOf } from '../../core/access/rules.ts'
import { findSelf, projectOfCall } from '../../core/agents/connection.ts'
import type { Hub } from '../../core/hub/hub.ts'
import type { Holder } from '../../core/topics/members.ts'
import type { CallContext, Connection } from '../mcp/table.ts'
import { projectParameter } from '../words/fields.ts'

export interface BusScope {
  /** As the URL or an option says. */
  readonly project?: string | undefined
  /** The process that speaks over stdio. */
  readonly process?: string
  /** The name that the URL, a header or an option gives the caller. */
  readonly agent?: string
}

export const busPath = '/bus/mcp'

interface Options {
  readonly project?: string | undefined
  readonly agent?: string | undefined
}

/** The scope of `parley bus`, by its options. */
export function processScope({ project, agent }: Options = {}) {
  const name = agent === undefined ? undefined : nameOf(agent, '--agent (AGENT_NAME)', 'parley bus --agent <your name>')
  return { ...(project && { project }), ...(name && { agent: name }), process: thisProcess() }
}

export function busScope(
  _params: Record<string, string>,
  query: Record<string, unknown>,
  _caller?: unknown,
  called = 'The query parameter "agent"',
) {
  const shown = projectParameter(query)
  const project = query.project === undefined ? {} : { project: shown }
  if (query.agent === undefined) return { scope: project, key: JSON.stringify([shown]) }
  const agent = nameOf(query.agent, called, '/bus/mcp?agent=<your name>')
  return { scope: { ...project, agent }, key: JSON.stringify([shown, nameKey(agent)]) }
}

function nameOf(agent: unknown, called: string, use: string): string {
  const fault = typeof agent === 'string' ? busNameFault(agent) : 'must be given once'
  if (fault === undefined && typeof agent === 'string') return agent.trim()
  throw new HubError('INVALID_ARGUMENT', `${called} ${fault}.`, { hint: `Use ${use}.` })
}

/** The project of a call: as told, else that of the key or token, else the common one (bus.http.key). */
export const projectOf = (hub: Hub, { caller, scope }: Pick<CallContext<BusScope>, 'caller' | 'scope'>) =>
  projectOfCall(hub, caller, scope.project)

/** A name on the connection is the one to join under (bus.http.url-name). The project is never an argument here. */
export const busConnection = (hub: Hub): Connection<BusScope> => ({
  tells: ({ caller, scope: { agent } }) => ({
    agent: agent !== undefined || agentOf(caller) !== undefined,
    project: true,
    aloud: agent !== undefined,
  }),
  // Whether a key may act under the name on the URL is for the verb to say.
  self: async ({ caller, scope: { agent: name } }) => (name === undefined ? findSelf(hub, caller, {}) : { name }),
  agrees: async (_context, self, { name = '' }) => nameKey(name.trim()) === nameKey(self.name ?? ''),
})

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

export async function holderOf(hub: Hub, context: CallContext<BusScope>): Promise<Holder> {
  const { caller, scope } = context
  const key = holderKey(context)
  if (key !== undefined) return { caller, project: await projectOf(hub, context), key, named: scope.agent }
  throw new HubError(
    'AGENT_NOT_JOINED',
    'This call does not say who you are: it has no session, no name, and no key of an agent.',
    { reason: 'nameless' },
  )
}
