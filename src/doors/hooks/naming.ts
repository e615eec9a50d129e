/** The agent that a tool call has just made or found: read from the hook that a client calls after it. */
import { parsedJson } from '../../base/json.ts'

/** However a client writes the name of the tool: `mcp__parley__register_agent`, `parley_register_agent`, `register_agent`. */
const registering = /(?:^|[^a-z])(?:macro_start_session|register_agent|create_agent_identity)$/i

interface Registered {
  readonly name: string
  readonly project: string
}

/** By the answer of the tool; the arguments are what the agent wished, and a connection may have filled them in. */
export function registeredBy(payload: Readonly<Record<string, unknown>>): Registered | undefined {
  const { tool_name: tool, tool_input, tool_response } = payload
  if (typeof tool !== 'string' || !registering.test(tool)) return undefined
  const found = profileIn(tool_response, 8)
  if (found !== undefined) return found
  const { name, agent_name, project_key, human_key } = isRecord(tool_input) ? tool_input : {}
  const [called, project] = [agent_name ?? name, human_key ?? project_key]
  return typeof called === 'string' && typeof project === 'string' ? { name: called, project } : undefined
}

/** Clients wrap the answer of a tool in their own ways, as text or as it is: the profile of an agent is looked for in all of them. */
function profileIn(value: unknown, depth: number): Registered | undefined {
  if (depth === 0) return undefined
  if (typeof value === 'string') return /^\s*[[{]/.test(value) ? profileIn(parsedJson(value), depth - 1) : undefined
  if (Array.isArray(value)) return firstIn(value, depth)
  if (!isRecord(value)) return undefined
  const { name, program, project } = value
  if (typeof name === 'string' && typeof program === 'string' && typeof project === 'string') return { name, project }
  // The answer of macro_start_session has other agents beside this one.
  return 'agent' in value ? profileIn(value.agent, depth - 1) : firstIn(Object.values(value), depth)
}

function firstIn(values: readonly unknown[], depth: number): Registered | undefined {
  for (const value of values.slice(0, 20)) {
    const found = profileIn(value, depth - 1)
    if (found !== undefined) return found
  }
  return undefined
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
