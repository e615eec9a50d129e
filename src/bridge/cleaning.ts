/** What another server says of its tools, made harmless: names, descriptions, schemas. */
import { cut } from '../base/text.ts'

const toolName = /^[A-Za-z0-9_.-]{1,64}$/
const descriptionLength = 500
const noteLength = 200
/** Characters of a schema as JSON, and its levels. */
const schemaLength = 4000
const schemaDepth = 8

/** `<server>.<tool>`; undefined where that is no name of a tool. */
export function bridgedName(server: string, tool: string): string | undefined {
  const name = `${server}.${tool}`
  return toolName.test(name) ? name : undefined
}

/** Without what a reader does not see, or what moves other text about. */
export const plainText = (text: unknown, length = descriptionLength): string =>
  typeof text === 'string'
    ? cut(
        text
          .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
          .replace(/[\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}]+/gu, '')
          .replace(/\s+/gu, ' ')
          .trim(),
        length,
      )
    : ''

type Json = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Takes any arguments: the other server checks them itself. */
const anything = { type: 'object' } as const

/** A schema that every client takes, flat at its root; where that cannot be made, one that takes any object. */
export function flatSchema(schema: unknown): Json {
  try {
    const flat = isRecord(schema) ? flatten(schema, schema, 0) : undefined
    if (flat?.type !== 'object' || JSON.stringify(flat).length >= schemaLength) return anything
    return flat
  } catch (error) {
    if (error instanceof TooDeep) return anything
    throw error
  }
}

class TooDeep extends Error {}

const types = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean'])
const numbers = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'] as const
const property = /^(?!__proto__$)[\w.$-]{1,64}$/

/** Only words that are known are kept: patterns, formats and all that a client might act on stay away. */
function flatten(schema: Json, root: Json, depth: number): Json {
  if (depth > schemaDepth) throw new TooDeep()
  const { $ref } = schema
  if ($ref !== undefined) return flatten({ ...resolve($ref, root), description: schema.description }, root, depth + 1)
  const only = oneOf(schema)
  if (only !== undefined)
    return flatten({ ...only, description: schema.description ?? only.description }, root, depth + 1)
  const flat: Record<string, unknown> = {}
  const type = typeOf(schema)
  if (type !== undefined) flat.type = type
  const description = plainText(schema.description, noteLength)
  if (description !== '') flat.description = description
  for (const word of numbers) if (typeof schema[word] === 'number') flat[word] = schema[word]
  if (Array.isArray(schema.enum)) flat.enum = schema.enum.filter(isPlain).slice(0, 50)
  if (isPlain(schema.default)) flat.default = schema.default
  if (type === 'array' && isRecord(schema.items)) flat.items = flatten(schema.items, root, depth + 1)
  if (type === 'object' && isRecord(schema.properties)) {
    const properties = Object.entries(schema.properties)
    if (!properties.every(([name, value]) => property.test(name) && isRecord(value))) throw new TooDeep()
    flat.properties = Object.fromEntries(
      properties.map(([name, value]) => [name, flatten(value as Json, root, depth + 1)]),
    )
    if (Array.isArray(schema.required))
      flat.required = schema.required.filter((name) => properties.some(([known]) => known === name))
  }
  return flat
}

const isPlain = (value: unknown): boolean =>
  (typeof value === 'string' && value.length <= 100 && plainText(value) === value) ||
  (typeof value === 'number' && Number.isFinite(value)) ||
  typeof value === 'boolean'

function typeOf({ type, properties }: Json): string | undefined {
  const named = (Array.isArray(type) ? type : [type]).filter((one) => one !== 'null')
  if (named.length === 1 && typeof named[0] === 'string' && types.has(named[0])) return named[0]
  return type === undefined && properties !== undefined ? 'object' : undefined
}

/** The one that is left of a choice between something and null; a real choice is left to the other server. */
function oneOf({ anyOf, oneOf, allOf }: Json): Json | undefined {
  const choices = [anyOf, oneOf, allOf].find(Array.isArray)
  if (choices === undefined) return undefined
  const real = choices.filter((one): one is Json => isRecord(one) && one.type !== 'null')
  return real.length === 1 ? real[0] : {}
}

function resolve($ref: unknown, root: Json): Json {
  const [, place, name] = (typeof $ref === 'string' && /^#\/(\$defs|definitions)\/([\w.-]+)$/.exec($ref)) || []
  const definitions = place === undefined ? undefined : root[place]
  const found = isRecord(definitions) && name !== undefined && Object.hasOwn(definitions, name) && definitions[name]
  if (!isRecord(found)) throw new TooDeep()
  return found
}
