/** The identity of a caller of the hub: the agent of its key, else the name on the URL. */
import { HubError } from '../../base/errors.ts'
import { agentNamePattern, agentNameRule, nameKey } from '../../base/names.ts'
import type { HubCaller } from '../../core/threads/hub-readers.ts'
import type { CallContext } from '../mcp/table.ts'
import { parseAddress } from '../words/addresses.ts'
import { projectParameter } from '../words/fields.ts'

export interface HubScope {
  readonly project?: string
  readonly name?: string
}

export const hubPath = '/hub/mcp'

/** How the place is called where the names stand, for errors about them. */
interface Wording {
  called(name: 'agent' | 'project'): string
  readonly use: string
}

const onUrl: Wording = { called: (name) => `The query parameter "${name}"`, use: '/hub/mcp?agent=<your name>' }
const onCommandLine: Wording = { called: (name) => `--${name}`, use: 'parley hub --agent <your name>' }

export const hubScope = (
  _params: Record<string, string>,
  query: Record<string, unknown>,
  _caller: unknown,
  called = onUrl.called('agent'),
) => scopeOf(query, { ...onUrl, called: (name) => (name === 'agent' ? called : onUrl.called(name)) })

/** The same for `parley hub`, by its options. */
export const commandScope = (options: { readonly agent?: string; readonly project?: string }): HubScope =>
  scopeOf({ ...options }, onCommandLine).scope

function scopeOf(given: Record<string, unknown>, wording: Wording) {
  const { agent } = given
  const [name, home] = agent === undefined ? [] : nameOf(agent, wording)
  const project = given.project === undefined ? home : projectParameter(given, wording.called('project'))
  if (home !== undefined && project !== home)
    throw new HubError(
      'INVALID_ARGUMENT',
      `${wording.called('agent')} and ${wording.called('project')} name two projects.`,
      { hint: 'Leave the project out, or write the name without "@" and the project.' },
    )
  const scope = { ...(project !== undefined && { project }), ...(name !== undefined && { name }) }
  return { scope, key: JSON.stringify([project, name === undefined ? undefined : nameKey(name)]) }
}

function nameOf(agent: unknown, { called, use }: Wording): [name: string, home?: string] {
  const [name = '', home] = typeof agent === 'string' ? parseAddress(agent) : []
  if (agentNamePattern.test(name) && home !== '') return home === undefined ? [name] : [name, home]
  throw new HubError('INVALID_ARGUMENT', `${called('agent')} must be ${agentNameRule}.`, { hint: `Use ${use}.` })
}

export const hubCallerOf = ({ caller, scope }: Pick<CallContext<HubScope>, 'caller' | 'scope'>): HubCaller => ({
  caller,
  ...scope,
})
