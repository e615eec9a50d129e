/** Makes the tools of another server harmless: their names, descriptions and schemas. */
import { cut } from '../base/text.ts'

const toolName = /^[A-Za-z0-9_.-]{1,64}$/
const descriptionLength = 500
const noteLength = 200
/** Characters of a schema as JSON, and its levels. */
const schemaLength = 4000
const schemaDepth = 8
/** Steps of the work on a schema; one that fits has a few hundred. */
const schemaSteps = 2000

/** `<server>.<tool>`; undefined where that is no name of a tool. */
export function remoteToolName(server: string, tool: string): string | undefined {
  const name = `${server}.${tool}`
  return toolName.test(name) ? name : undefined
}

/** Without what a reader does not see, or what moves other text about. */
export const plainText = (text: unknown, length = descriptionLength): string =>
  typeof text === 'string'
    ? cut(
        // More than that is not looked at.
        text
          .slice(0, 8 * length)
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
export const anything = { type: 'object' } as const

/** A schema that every client takes, flat at its root; where that cannot be made, one that takes any object. */
export function flatSchema(schema: unknown): Json {
  try {
    const flat = isRecord(schema) ? flatten(schema, { root: schema, steps: schemaSteps }) : undefined
    if (flat?.type !== 'object' || JSON.stringify(flat).length >= schemaLength) return anything
    return flat
  } catch (error) {
    if (error instanceof CannotBeFlat) return anything
    throw error
  }
}

class CannotBeFlat extends Error {}

const types = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean'])
const numbers = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'] as const
const property = /^(?!__proto__$)[\w.$-]{1,64}$/

interface Work {
  readonly root: Json
  /** The steps left of the budget. */
  steps: number
}

/** Paid before the work is done: a few references to each other stand for a schema of any size. */
function pay(work: Work, steps: number): void {
  work.steps -= steps
  if (work.steps < 0) throw new CannotBeFlat()
}

/** Only words that are known are kept: patterns, formats and all that a client might act on stay away. */
function flatten(schema: Json, work: Work, depth = 0, told: unknown = schema.description): Json {
  pay(work, 1)
  if (depth > schemaDepth) throw new CannotBeFlat()
  const { $ref } = schema
  if ($ref !== undefined) return flatten(resolve($ref, work.root), work, depth + 1, told)
  const only = oneOf(schema, work)
  if (only !== undefined) return flatten(only, work, depth + 1, told)
  const flat: Record<string, unknown> = {}
  const type = typeOf(schema, work)
  if (type !== undefined) flat.type = type
  const description = plainText(told, noteLength)
  if (description !== '') flat.description = description
  for (const word of numbers) if (typeof schema[word] === 'number') flat[word] = schema[word]
  if (Array.isArray(schema.enum)) {
    pay(work, schema.enum.length)
    const values = schema.enum.filter(isPlain)
    if (values.length > 0) flat.enum = values
  }
  if (isPlain(schema.default)) flat.default = schema.default
  if (type === 'array' && isRecord(schema.items)) flat.items = flatten(schema.items, work, depth + 1)
  if (type === 'object' && isRecord(schema.properties)) {
    const properties = new Map<string, Json>()
    for (const name in schema.properties) {
      const value = schema.properties[name]
      if (!property.test(name) || !isRecord(value)) throw new CannotBeFlat()
      properties.set(name, flatten(value, work, depth + 1))
    }
    flat.properties = Object.fromEntries(properties)
    if (Array.isArray(schema.required)) {
      pay(work, schema.required.length)
      flat.required = schema.required.filter((name) => properties.has(name))
    }
  }
  return flat
}

const isPlain = (value: unknown): boolean =>
  (typeof value === 'string' && value.length <= 100 && plainText(value) === value) ||
  (typeof value === 'number' && Number.isFinite(value)) ||
  typeof value === 'boolean'

function typeOf({ type, properties }: Json, work: Work): string | undefined {
  if (Array.isArray(type)) pay(work, type.length)
  const named = (Array.isArray(type) ? type : [type]).filter((one) => one !== 'null')
  if (named.length === 1 && typeof named[0] === 'string' && types.has(named[0])) return named[0]
  return type === undefined && properties !== undefined ? 'object' : undefined
}

/** The one that is left of a choice between something and null; a real choice is left to the other server. */
function oneOf({ anyOf, oneOf, allOf }: Json, work: Work): Json | undefined {
  const choices = [anyOf, oneOf, allOf].find(Array.isArray)
  if (choices === undefined) return undefined
  pay(work, choices.length)
  const real = choices.filter((one): one is Json => isRecord(one) && one.type !== 'null')
  return real.length === 1 ? real[0] : {}
}

function resolve($ref: unknown, root: Json): Json {
  const [, place, name] = (typeof $ref === 'string' && /^#\/(\$defs|definitions)\/([\w.-]+)$/.exec($ref)) || []
  const definitions = place === undefined ? undefined : root[place]
  const found = isRecord(definitions) && name !== undefined && Object.hasOwn(definitions, name) && definitions[name]
  if (!isRecord(found)) throw new CannotBeFlat()
  return found
}

/** Hints that a client may show a person or ask about. The call counts as writing here, whatever the server says of it. */
export function plainAnnotations(given: unknown): ToolHints {
  const { readOnlyHint, destructiveHint, idempotentHint } = isRecord(given) ? given : {}
  return {
    readOnlyHint: false,
    destructiveHint: readOnlyHint !== true && destructiveHint !== false,
    idempotentHint: readOnlyHint === true || idempotentHint === true,
    openWorldHint: true,
  }
}

export interface ToolHints {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}
