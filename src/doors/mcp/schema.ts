/** The JSON schemas a tool advertises, derived from its zod schemas once, when its door is served. */
import { z } from 'zod'
import { isRecord, type Json } from './protocol/json.ts'
import type { Tool } from './table.ts'

type AnyTool = Pick<Tool<never>, 'input' | 'output' | 'wrapped'>

// The dialect of the SDK's own servers.
const target = 'draft-2020-12'

export const inputSchema = (tool: AnyTool): Json =>
  tidy(z.toJSONSchema(tool.input, { target, io: 'input', unrepresentable: 'any' }))

/**
 * A failed call also carries structured content, `{error: …}`, and clients on SDK v1 check even that against the
 * output schema. Hence the advertised schema requires nothing and forbids nothing; its properties are those of a success.
 */
export function outputSchema(tool: AnyTool): Json | undefined {
  if (tool.output === undefined) return undefined
  const schema = loose(tidy(z.toJSONSchema(tool.output, { target, io: 'output', unrepresentable: 'any' }))) as Json
  return tool.wrapped ? { type: 'object', properties: { result: schema } } : schema
}

/** Keywords for checking results cost every agent tokens, a tenth of the list of a large door, and tell it nothing. */
function loose(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(loose)
  if (!isRecord(node)) return node
  const all = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, loose(value)]))
  // In a map of properties "type" may be the name of one: its value is no text.
  if (all.type !== 'object') return all
  const { required: _, additionalProperties: more, propertyNames: ___, properties, ...rest } = all
  const names = Object.keys(isRecord(properties) ? properties : {})
  // zod writes an empty schema for the further fields of a loose object.
  const isOpen = isRecord(more) && Object.keys(more).length === 0
  return {
    ...rest,
    ...(names.length > 0 && { properties }),
    ...((isOpen || names.some((name) => keywords.has(name))) && { additionalProperties: true }),
  }
}

/**
 * Names of fields that Python keeps for itself. FastMCP 2 makes a dataclass of a schema, which refuses them and loses the whole
 * result, and drops every field that the schema does not name. Of a schema that allows further fields it makes a model that takes both.
 */
const keywords = new Set(
  `and as assert async await break class continue def del elif else except finally for from global if import in is lambda
  nonlocal not or pass raise return try while with yield`.split(/\s+/),
)

/** Drops keywords that tell a model nothing (the dialect, zod's bounds of every integer) or that clients choke on. */
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

/**
 * A list of types, as zod writes a nullable value, becomes a choice: some clients take only one type. A type that a row
 * gives by hand is the one to advertise, even if others are taken.
 */
function oneType({ type, description, ...rest }: Json): Json {
  const told = description === undefined ? {} : { description }
  if (typeof type === 'string' && 'anyOf' in rest) {
    const { anyOf: _, ...one } = rest
    return { type, ...told, ...one }
  }
  if (!Array.isArray(type)) return type === undefined ? { ...told, ...rest } : { type, ...told, ...rest }
  const choices = type.map((one: unknown) => (one === 'null' ? { type: one } : { type: one, ...rest }))
  return { ...told, anyOf: choices }
}

/** Bounds that the error for a broken one names; nobody comes near the lower ones. */
const bounds = new Set(['pattern', 'minLength', 'maxLength', 'minItems', 'maxItems', 'minimum', 'exclusiveMinimum'])

/** Nobody comes near an upper one of this size either. */
const farMaximum = 1_000_000

/** An empty text, or false, as the usual value tells nothing either. */
const isSaid = ([keyword, value]: [string, unknown]): boolean =>
  !bounds.has(keyword) &&
  !(keyword === 'maximum' && Number(value) >= farMaximum) &&
  !(keyword === 'default' && (value === '' || value === false))

const unbound = (schema: Json): Json => Object.fromEntries(Object.entries(schema).filter(isSaid))

/**
 * An input schema without such bounds, those of the items of a list too. Nor does it forbid unknown arguments: the error names them, and
 * 27 tools need 800 characters to say so.
 */
export function brief({ additionalProperties: _, ...schema }: Json): Json {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Json>).map(([name, property]) => {
    const said = unbound(property)
    return [name, isRecord(said.items) ? { ...said, items: unbound(said.items) } : said]
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}

/**
 * An output schema one level deep: the fields of the value, of the items of its `result` too. Only lists have a type: the clients that
 * show results to a model show the value, and the types cost a thousand characters. FastMCP 2 makes an empty class of a bare object.
 */
export function shallow(schema: Json | undefined): Json | undefined {
  const fields = (properties: unknown) =>
    Object.fromEntries(Object.entries(properties as Record<string, Json>).map(([name, field]) => [name, bare(field)]))
  const { result, ...beside } = (schema?.properties ?? {}) as Record<string, Json | undefined>
  const items = result?.items as Json | undefined
  if (items?.properties !== undefined && result !== undefined)
    return {
      ...schema,
      properties: {
        result: { ...result, items: { ...items, properties: fields(items.properties) } },
        ...fields(beside),
      },
    }
  return schema?.properties === undefined ? schema : { ...schema, properties: fields(schema.properties) }
}

const bare = ({ type, enum: words }: Json): Json =>
  words !== undefined ? { type, enum: words } : type === 'array' ? { type } : {}
