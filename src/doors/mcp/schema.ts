/** The JSON schemas a tool advertises, derived from its zod schemas once, when its door is served. */
import { z } from 'zod'
import { isRecord, type Json } from './json.ts'
import type { Tool } from './table.ts'

type AnyTool = Pick<Tool<never>, 'input' | 'output' | 'wrapped'>

// The dialect of the SDK's own servers.
const target = 'draft-2020-12'

export const inputSchema = (tool: AnyTool): Json =>
  tidy(z.toJSONSchema(tool.input, { target, io: 'input', unrepresentable: 'any' }))

/**
 * A failed call also carries structured content, `{error: …}`, and clients on SDK v1 check even that against the
 * output schema. So the advertised root requires nothing and forbids nothing; what a success holds is in the properties.
 */
export function outputSchema(tool: AnyTool): Json | undefined {
  if (tool.output === undefined) return undefined
  const schema = tidy(z.toJSONSchema(tool.output, { target, io: 'output', unrepresentable: 'any' }))
  if (tool.wrapped) return { type: 'object', properties: { result: schema } }
  const { required: _, additionalProperties: __, ...root } = schema
  return root
}

/** Takes away what tells a model nothing (the dialect, the bounds zod gives every integer) and what clients choke on. */
function tidy(schema: unknown): Json {
  const clean = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(clean)
    if (!isRecord(node)) return node
    const entries = Object.entries(node).filter(([key, value]) => key !== '$schema' && !isSafeBound(key, value))
    return oneType(Object.fromEntries(entries.map(([key, value]) => [key, clean(value)])))
  }
  return clean(schema) as Json
}

const isSafeBound = (key: string, value: unknown): boolean =>
  (key === 'maximum' && value === Number.MAX_SAFE_INTEGER) || (key === 'minimum' && value === Number.MIN_SAFE_INTEGER)

/** A list of types, as zod writes what may be null, becomes a choice: some clients take only one type. */
function oneType({ type, description, ...rest }: Json): Json {
  const told = description === undefined ? {} : { description }
  if (!Array.isArray(type)) return type === undefined ? { ...told, ...rest } : { type, ...told, ...rest }
  const choices = type.map((one: unknown) => (one === 'null' ? { type: one } : { type: one, ...rest }))
  return { ...told, anyOf: choices }
}
