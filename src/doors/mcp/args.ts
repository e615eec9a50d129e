/** Reads a tool's arguments, and words their faults so that a model can put them right. */
import type { z } from 'zod'
import { HubError } from '../../base/errors.ts'
import { readJsonText } from '../../base/json.ts'
import { echo } from '../../base/text.ts'
import { isRecord, type Json } from './protocol/json.ts'
import { inputSchema } from './schema.ts'
import type { Tool } from './table.ts'

type AnyTool = Pick<Tool<never>, 'name' | 'input' | 'accept'>

/** Throws INVALID_ARGUMENT in our words (all.arguments.tool-error). A null argument is an absent one (all.schema.null). */
export function readArguments(tool: AnyTool, args: unknown): unknown {
  if (args !== undefined && args !== null && !isRecord(args))
    throw new HubError('INVALID_ARGUMENT', `The arguments must be an object; got ${show(args)}.`, { hint: usage(tool) })
  const given = withoutNulls(args ?? {})
  const accepted = tool.accept === undefined ? given : tool.accept(given)
  const read = tool.input.safeParse(withLists(tool.input, accepted), { error: say })
  if (read.success) return read.data
  throw new HubError('INVALID_ARGUMENT', read.error.issues.slice(0, 5).map(sentence).join(' '), { hint: usage(tool) })
}

function withoutNulls(args: Json): Json {
  for (const key in args)
    if (args[key] === null) return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))
  return args
}

/** Models write a list of one as its only item, and a list as JSON in a text (all.lists.forms). */
function withLists(input: z.ZodObject, args: Json): Json {
  const written = listsOf(input).filter((name) => typeof args[name] === 'string' || typeof args[name] === 'number')
  if (written.length === 0) return args
  return { ...args, ...Object.fromEntries(written.map((name) => [name, toList(args[name])])) }
}

function toList(value: unknown): unknown[] {
  if (typeof value !== 'string' || !value.trimStart().startsWith('[')) return [value]
  try {
    const list = readJsonText(value)
    return Array.isArray(list) ? list : [value]
  } catch (error) {
    if (error instanceof HubError) throw error
    // A pattern may begin with a bracket.
    return [value]
  }
}

const knownLists = new WeakMap<z.ZodObject, readonly string[]>()

/** The arguments of a tool that are lists of names, patterns or ids. */
export function listsOf(input: z.ZodObject): readonly string[] {
  const known = knownLists.get(input)
  if (known !== undefined) return known
  const found = Object.entries(input.shape)
    .filter(([, schema]) => isPlainList(schema))
    .map(([name]) => name)
  knownLists.set(input, found)
  return found
}

function isPlainList(schema: z.core.$ZodType): boolean {
  const { def } = schema._zod
  if ('innerType' in def) return isPlainList(def.innerType as z.core.$ZodType)
  return def.type === 'array' && (def as z.core.$ZodArrayDef).element._zod.def.type !== 'object'
}

function sentence({ path, code, message }: z.core.$ZodIssue): string {
  if (path.length > 0) return `Argument "${place(path)}" ${message}.`
  return code === 'unrecognized_keys'
    ? `There is ${message.replace(/^has /, '').replaceAll('field', 'argument')}.`
    : `The arguments ${message}.`
}

export const place = (path: readonly PropertyKey[]): string =>
  path
    .map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index > 0 ? '.' : ''}${echo(String(key))}`))
    .join('')

/** The rest of the sentence `Argument "x" …`. */
export function say(issue: z.core.$ZodRawIssue): string {
  const { input } = issue
  switch (issue.code) {
    case 'invalid_type':
      return input === undefined
        ? `is missing; it must be ${article(issue.expected)}`
        : `must be ${article(issue.expected)}; got ${show(input)}`
    case 'invalid_value': {
      const allowed = issue.values.map((value) => show(value)).join(', ')
      return input === undefined
        ? `is missing; it must be one of ${allowed}`
        : `must be one of ${allowed}; got ${show(input)}`
    }
    case 'too_small':
      return `must ${bound(issue.origin, 'at least', issue.minimum, issue.inclusive ?? true)}; ${got(issue.origin, input)}`
    case 'too_big':
      return `must ${bound(issue.origin, 'at most', issue.maximum, issue.inclusive ?? true)}; ${got(issue.origin, input)}`
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}; got ${show(input)}`
    case 'invalid_format':
      return issue.format === 'regex'
        ? `must match ${issue.pattern}; got ${show(input)}`
        : `must be ${article(issue.format)}; got ${show(input)}`
    case 'unrecognized_keys':
      return `has no field ${echo(issue.keys.map((key) => show(key)).join(', '))}`
    case 'invalid_union':
      return (
        [...new Set(issue.errors.flatMap(([first]) => (first === undefined ? [] : [first.message])))].join(', or ') ||
        'is of no allowed form'
      )
    default:
      return `is not allowed; got ${show(input)}`
  }
}

const units: Record<string, string> = { string: 'character', array: 'item', set: 'item' }

function bound(origin: string, limit: 'at least' | 'at most', value: number | bigint, inclusive: boolean): string {
  const unit = units[origin]
  if (unit !== undefined) return `have ${limit} ${value} ${unit}${Number(value) === 1 ? '' : 's'}`
  if (inclusive) return `be ${limit} ${value}`
  return `be ${limit === 'at least' ? 'more' : 'less'} than ${value}`
}

const got = (origin: string, input: unknown): string =>
  typeof input === 'string' || Array.isArray(input) ? `it has ${input.length}` : `got ${show(input, origin)}`

const nouns: Record<string, string> = {
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  record: 'an object',
}

const article = (type: string): string => nouns[type] ?? `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`

/** A value as a person would point at it: short, and without its content if it is large. */
function show(value: unknown, fallback = 'something else'): string {
  if (Array.isArray(value)) return 'a list'
  if (isRecord(value)) return 'an object'
  const text = JSON.stringify(value) ?? fallback
  return text.length <= 60 ? text : `${text.slice(0, 57)}…"`
}

function usage(tool: AnyTool): string {
  const { properties, required } = inputSchema(tool)
  const names = Object.entries((properties ?? {}) as Record<string, Json>).map(([name, schema]) => {
    const optional = Array.isArray(required) && required.includes(name) ? '' : ', optional'
    return `${name} (${String(schema.type ?? 'any')}${optional})`
  })
  return names.length === 0 ? `${tool.name} takes no arguments.` : `Arguments of ${tool.name}: ${names.join(', ')}.`
}
