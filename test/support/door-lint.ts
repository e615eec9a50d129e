/** Finds tools that real clients would silently drop or rename; used by the tests of every door. */
import { isRecord, type Json } from '../../src/doors/mcp/protocol/json.ts'
import { inputSchema, outputSchema } from '../../src/doors/mcp/schema.ts'
import type { Door } from '../../src/doors/mcp/table.ts'
import { parseTemplate } from '../../src/doors/mcp/uri.ts'

const name = /^[A-Za-z0-9_.-]{1,64}$/
const limits = { description: 1000, instructions: 2000 } as const

/** One sentence a fault; an empty list is a door that any client can use. */
export function lintDoor<Scope>(door: Door<Scope>): string[] {
  const faults: string[] = []
  const check = (ok: boolean, fault: string) => {
    if (!ok) faults.push(fault)
  }
  check(door.instructions.length <= limits.instructions, `${door.name}: the instructions are too long`)
  check(isUnique(door.tools.map((tool) => tool.name)), `${door.name}: two tools have one name`)
  check(isUnique(door.resources.map((resource) => resource.uri)), `${door.name}: two resources have one URI`)

  for (const tool of door.tools) {
    check(name.test(tool.name), `${tool.name}: not a name every client takes`)
    check(tool.title !== '', `${tool.name}: has no title`)
    check(isDescription(tool.description), `${tool.name}: the description is empty or too long`)
    check(tool.effect === 'write' || !tool.destructive, `${tool.name}: a tool that only reads destroys nothing`)
    const input = inputSchema(tool)
    check(input.type === 'object', `${tool.name}: the input is not an object`)
    check(input.additionalProperties === false, `${tool.name}: the input takes unknown arguments`)
    faults.push(...flaws(input).map((flaw) => `${tool.name}: the input ${flaw}`))
    for (const [argument, schema] of Object.entries((input.properties ?? {}) as Json))
      check(
        isRecord(schema) && (door.terse || typeof schema.description === 'string'),
        `${tool.name}: "${argument}" has no description`,
      )
    const output = outputSchema(tool)
    check(output === undefined || output.type === 'object', `${tool.name}: the output is not an object; wrap it`)
  }
  for (const resource of door.resources) {
    check(isDescription(resource.description), `${resource.uri}: the description is empty or too long`)
    check(isParsed(resource.uri), `${resource.uri}: not a URI template`)
  }
  return faults
}

const combiners = ['anyOf', 'oneOf', 'allOf']

/** The faults that keep an input schema from being flat (all.schema.flat). */
function flaws(root: Json): string[] {
  const found = new Set<string>()
  for (const key of combiners) if (key in root) found.add(`has ${key} at its root`)
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) for (const item of node) walk(item)
    if (!isRecord(node)) return
    if ('$ref' in node || '$defs' in node) found.add('uses $ref')
    if (Array.isArray(node.type)) found.add('gives a list of types')
    if (node.type === 'null') found.add('allows null; make the argument optional')
    for (const value of Object.values(node)) walk(value)
  }
  walk(root)
  return [...found]
}

const isDescription = (text: string): boolean => text !== '' && text.length <= limits.description

const isUnique = (values: readonly string[]): boolean => new Set(values).size === values.length

function isParsed(uri: string): boolean {
  try {
    parseTemplate(uri)
    return true
  } catch {
    return false
  }
}
