/** A JSON schema as a reader of TypeScript would write it: `{ id: string, lease?: string } | null`. */
import type { z } from 'zod'

export type Schema = z.core.JSONSchema.JSONSchema

export function typeText(schema: Schema | boolean): string {
  if (typeof schema === 'boolean') return 'any'
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeText).join(' | ')
  if (schema.type === 'array') return arrayText(schema)
  if (schema.type === 'object') return objectText(schema)
  const { type = 'any' } = schema
  return Array.isArray(type) ? type.join(' | ') : type
}

function arrayText({ items = true }: Schema): string {
  const item = Array.isArray(items) ? items.map(typeText).join(' | ') : typeText(items)
  return item.includes(' | ') ? `(${item})[]` : `${item}[]`
}

function objectText({ properties = {}, required = [] }: Schema): string {
  const fields = Object.entries(properties).map(
    ([name, field]) => `${name}${required.includes(name) ? '' : '?'}: ${typeText(field)}`,
  )
  return fields.length === 0 ? 'object' : `{ ${fields.join(', ')} }`
}
