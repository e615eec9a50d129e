/** Other ways in which models write arguments: a list as its only item or as JSON; numbers, booleans and choices as text. */
import type { z } from 'zod'
import { HubError } from '../../base/errors.ts'
import { readJsonText } from '../../base/json.ts'
import { isRecord, type Json } from './protocol/json.ts'

/** The arguments with every list in the form of a list (all.lists.forms). */
export function withLists(input: z.ZodObject, args: Json): Json {
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
  const def = bare(schema)
  return def.type === 'array' && bare((def as z.core.$ZodArrayDef).element).type !== 'object'
}

/** A schema without what makes it optional or nullable. */
function bare({ _zod: { def } }: z.core.$ZodType): z.core.$ZodTypeDef {
  return 'innerType' in def ? bare(def.innerType as z.core.$ZodType) : def
}

/**
 * The arguments with `"1"`, `"true"` and `"High"` read as the number, boolean or choice that the schema missed in their
 * place (all.arguments.text); undefined if there is nothing to read so. Asked only after a refusal: good calls pay nothing.
 */
export function withoutTexts(args: Json, issues: readonly z.core.$ZodIssue[]): Json | undefined {
  let read: Json | undefined
  for (const issue of issues) {
    const given = at(args, issue.path)
    const meant = typeof given === 'string' ? meaning(given.trim(), issue) : undefined
    if (meant !== undefined) read = replace(read ?? args, issue.path, meant) as Json
  }
  return read
}

function meaning(text: string, issue: z.core.$ZodIssue): unknown {
  if (issue.code === 'invalid_value') return issue.values.find((value) => isSameWord(value, text))
  if (issue.code !== 'invalid_type') return undefined
  if (issue.expected === 'boolean') return [true, false].find((value) => isSameWord(String(value), text))
  const isNumber = issue.expected === 'number' || issue.expected === 'int'
  return isNumber && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined
}

const isSameWord = (value: unknown, text: string): boolean =>
  typeof value === 'string' && value.toLowerCase() === text.toLowerCase()

const at = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (isRecord(inner) || Array.isArray(inner) ? Reflect.get(inner, key) : undefined),
    value,
  )

/** A copy along the path: the arguments of the client stay as they are. */
function replace(value: unknown, [key, ...rest]: readonly PropertyKey[], meant: unknown): unknown {
  if (key === undefined) return meant
  const copy = Array.isArray(value) ? [...value] : { ...(value as Json) }
  Reflect.set(copy, key, replace(Reflect.get(copy, key), rest, meant))
  return copy
}
