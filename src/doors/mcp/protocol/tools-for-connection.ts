/** The list of tools for what a connection tells: arguments that it answers are left out, or need not be given. */
import type { Door, Own, Resource } from '../table.ts'
import { withoutNeed } from '../uri.ts'
import { mayTellFolder } from './folder.ts'
import type { Json } from './json.ts'
import type { Incoming } from './methods.ts'

/** `both` before the first call; else the arguments that may be left out, since the connection or a call tells them. */
export type Told = 'nothing' | 'agent' | 'project' | 'either' | 'both'

/** A tool as it stands in the list, as far as that depends on the connection. */
interface Advertised {
  readonly description: string
  readonly inputSchema: Json
  readonly outputSchema?: Json | undefined
}

export function toldIn<Scope>({ connection }: Door<Scope>, incoming: Incoming<Scope>): Told {
  if (connection === undefined) return 'nothing'
  const { agent, project } = connection.tells(incoming.exchange)
  if (agent && project) return 'both'
  const tellable = project || mayTellFolder(incoming)
  if (agent) return tellable ? 'either' : 'agent'
  return tellable ? 'project' : 'nothing'
}

/** The arguments, or the variables of a resource, that need not be given. */
export function ownNames({ agent, project }: Own = {}, told: Told): string[] {
  const names = { agent: told === 'project' ? undefined : agent, project: told === 'agent' ? undefined : project }
  return told === 'nothing' ? [] : Object.values(names).filter((name) => name !== undefined)
}

/** A template as it stands in the list. A segment of its path that may be left out is written `{/agent}`, as RFC 6570 has it. */
export function advertiseTemplate<Scope>({ uri, name, description, own }: Resource<Scope>, told: Told): object {
  const names = ownNames(own, told)
  const note = ` ${names.join(' and ')} may be left out: the connection tells ${names.length > 1 ? 'them' : 'it'}.`
  return {
    uriTemplate: withoutNeed(uri, names),
    name,
    description: names.length === 0 ? description : description + note,
    mimeType: 'application/json',
  }
}

export function untold<Tool extends Advertised>(tool: Tool, own: Own = {}, told: Told): Partial<Tool> {
  if (told === 'nothing') return tool
  const { description = tool.description } = own
  const names = ownNames(own, told)
  const { properties, required, additionalProperties, ...rest } = tool.inputSchema
  const needed = (required as readonly string[] | undefined)?.filter((name) => !names.includes(name)) ?? []
  const input = { ...rest, properties, ...(needed.length > 0 && { required: needed }) }
  if (told !== 'both') return { ...tool, inputSchema: { ...input, additionalProperties } }
  // A caller that names itself all the same is heard: further arguments are not ruled out. Results are known by the names of
  // their fields; what tells more of them is a sixth of the list, and of the tokens that each agent pays for it.
  const shown = Object.fromEntries(Object.entries(properties as Json).filter(([name]) => !names.includes(name)))
  return { ...tool, description, inputSchema: { ...input, properties: shown }, outputSchema: undefined }
}
