/** Reads a tool's arguments, and words their faults so that a model can put them right. */
import type { z } from 'zod'
import { HubError } from '../../base/errors.ts'
import { nearest } from '../../base/nearest.ts'
import { echo } from '../../base/text.ts'
import { withLists, withoutTexts } from './lenient.ts'
import { isRecord, type Json } from './protocol/json.ts'
import { inputSchema } from './schema.ts'
import type { Tool } from './table.ts'

type AnyTool = Pick<Tool<never>, 'name' | 'input' | 'accept' | 'own'>

/** Throws INVALID_ARGUMENT in our words (all.arguments.tool-error). A null argument is an absent one (all.schema.null). */
export function readArguments(tool: AnyTool, args: unknown): unknown {
  if (args !== undefined && args !== null && !isRecord(args))
    throw new HubError('INVALID_ARGUMENT', `The arguments must be an object; got ${show(args)}.`, { hint: usage(tool) })
  const given = withoutNulls(args ?? {})
  const accepted = tool.accept === undefined ? given : tool.accept(given)
  const listed = withLists(tool.input, accepted)
  const long = tooLong(tool.input, listed)
  if (long !== undefined) throw new HubError('INVALID_ARGUMENT', long, { hint: usage(tool) })
  const first = tool.input.safeParse(listed, { error: say })
  if (first.success) return first.data
  const read = withoutTexts(listed, first.error.issues)
  const second = read === undefined ? first : tool.input.safeParse(read, { error: say })
  if (second.success) return second.data
  const issues = second.error.issues.slice(0, 5)
  throw new HubError('INVALID_ARGUMENT', issues.map(sentence).join(' '), { hint: correction(tool, issues) })
}

function withoutNulls(args: Json): Json {
  for (const key in args)
    if (args[key] === null) return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))
  return args
}

/** A list that is too long is refused by its length: to look at 600,000 items first would hold everybody up for a second. */
function tooLong(input: z.ZodObject, args: Json): string | undefined {
  for (const name in args) {
    const value = args[name]
    const most = Array.isArray(value) ? mostOf(input.shape[name]) : undefined
    if (most !== undefined && Array.isArray(value) && value.length > most)
      return `Argument "${name}" must ${bound('array', 'at most', most, true)}; ${got('array', value)}.`
  }
  return undefined
}

/** The most items that the schema of a list takes. */
function mostOf(schema: z.core.$ZodType | undefined): number | undefined {
  const def = schema?._zod.def
  if (def !== undefined && 'innerType' in def) return mostOf(def.innerType as z.core.$ZodType)
  const most = schema?._zod.bag.maximum
  return def?.type === 'array' && typeof most === 'number' ? most : undefined
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
      if (input === undefined) return issue.errors[0]?.[0]?.message ?? 'is missing'
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

/** The arguments that are wrong, each as the tool takes it: a model corrects these, and has the whole list already. */
function correction(tool: AnyTool, issues: readonly z.core.$ZodIssue[]): string {
  const schema = inputSchema(tool)
  const properties = (schema.properties ?? {}) as Record<string, Json>
  const wrong = new Set(issues.flatMap(({ path }) => (typeof path[0] === 'string' ? [path[0]] : [])))
  const unknown = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys : [],
  )
  const known = [...wrong].filter((name) => Object.hasOwn(properties, name))
  const sentences = known.map(
    (name) => `${tool.name} takes ${described(name, properties[name] ?? {}, schema.required)}.`,
  )
  const { own } = tool
  if (own?.agent !== undefined && wrong.has(own.agent)) sentences.push(tellAgent)
  if (own?.project !== undefined && wrong.has(own.project)) sentences.push(tellProject)
  const near = new Set(unknown.flatMap((name) => nearest(name, Object.keys(properties), 1)))
  if (near.size > 0) sentences.push(`Did you mean ${[...near].join(', ')}?`)
  return sentences.length > 0 ? sentences.join(' ') : usage(tool)
}

/** Only a missing one is answered by the connection, but whoever wrote a wrong one may as well leave it out. */
const tellAgent = 'It may be left out where your client sends the header X-Parley-Agent, or a key.'
const tellProject = 'It may be left out where the URL of the server has ?project=, or a key is sent.'

function usage(tool: AnyTool): string {
  const { properties, required } = inputSchema(tool)
  const names = Object.entries((properties ?? {}) as Record<string, Json>).map(([name, schema]) =>
    described(name, { type: schema.type }, required),
  )
  return names.length === 0 ? `${tool.name} takes no arguments.` : `Arguments of ${tool.name}: ${names.join(', ')}.`
}

function described(name: string, { type = 'any', description }: Json, required: unknown): string {
  const optional = Array.isArray(required) && required.includes(name) ? '' : ', optional'
  const meaning = typeof description === 'string' ? `: ${description.replace(/\.$/, '')}` : ''
  return `${name} (${String(type)}${optional})${meaning}`
}
