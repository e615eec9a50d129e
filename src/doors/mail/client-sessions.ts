/** The agent of a call at the mail door, by which the session of its client is bound. */
import type { Caller } from '../../core/access/callers.ts'
import type { Hub } from '../../core/hub/hub.ts'
import type { SessionCall } from '../mcp/calls.ts'
import { parseAddress } from '../words/addresses.ts'
import { bindBehind } from '../words/client-sessions.ts'

export const bindMailSession =
  (hub: Hub) =>
  (call: SessionCall, { caller }: { readonly caller: Caller }): void => {
    const { tool, args, value } = call
    const { agent, project = '' } = tool.own ?? {}
    const called = registeredIn(tool.name, value) ?? (agent === undefined ? undefined : args[agent])
    const place = args[project]
    if (typeof called !== 'string' || typeof place !== 'string') return
    const [name, home = place] = parseAddress(called)
    bindBehind(hub, { caller, name, project: home }, call)
  }

/** Registering answers with the name that the agent was given, which need not be the one that it wished for. */
function registeredIn(tool: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  if ('agent' in value) return (value.agent as { name?: unknown } | null)?.name
  return ['register_agent', 'create_agent_identity'].includes(tool) && 'name' in value ? value.name : undefined
}
