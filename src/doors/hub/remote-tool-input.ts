/** The arguments of a remote tool, checked against the schema that stands in the list: a mistake is answered here, in our words. */
import { z } from 'zod'

type Json = Readonly<Record<string, unknown>>

const known = new WeakMap<Json, z.ZodObject>()

/** The schema is one that remote-tools/cleaning.ts has made flat. It forbids no further arguments: the other server may know them. */
export function inputOf(schema: Json): z.ZodObject {
  const made = known.get(schema) ?? objectOf(schema, schemaOf)
  known.set(schema, made)
  return made
}

function objectOf({ properties = {}, required = [] }: Json, valueSchema: (schema: Json) => z.ZodType): z.ZodObject {
  const needed = new Set(required as string[])
  const shape = Object.entries(properties as Record<string, Json>).map(([name, schema]) => {
    const value = valueSchema(schema)
    return [name, needed.has(name) ? value : value.optional()] as const
  })
  return z.looseObject(Object.fromEntries(shape))
}

/** A flat schema does not tell where null is allowed: below the arguments it is taken, and the other server checks it. */
const nestedOf = (schema: Json): z.ZodType => schemaOf(schema).nullable()

function schemaOf(schema: Json): z.ZodType {
  const { type, minimum, maximum, minLength, maxLength, minItems, maxItems } = schema as Json & Bounds
  if (schema.enum !== undefined) return z.literal(schema.enum as (string | number | boolean)[])
  switch (type) {
    case 'object':
      return objectOf(schema, nestedOf)
    case 'array':
      return within(
        z.array(schema.items === undefined ? z.unknown() : nestedOf(schema.items as Json)),
        minItems,
        maxItems,
      )
    case 'string':
      return within(z.string(), minLength, maxLength)
    case 'integer':
      return within(z.int(), minimum, maximum)
    case 'number':
      return within(z.number(), minimum, maximum)
    case 'boolean':
      return z.boolean()
    default:
      return z.unknown().refine((value) => value !== undefined, 'is missing')
  }
}

type Bounds = Readonly<
  Partial<Record<'minimum' | 'maximum' | 'minLength' | 'maxLength' | 'minItems' | 'maxItems', number>>
>

interface Bounded<Schema> {
  min(least: number): Schema
  max(most: number): Schema
}

function within<Schema extends z.ZodType & Bounded<Schema>>(schema: Schema, least?: number, most?: number): Schema {
  const from = least === undefined ? schema : schema.min(least)
  return most === undefined ? from : from.max(most)
}
