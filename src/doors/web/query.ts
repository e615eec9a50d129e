/** The parameters of the pages, each checked by one schema; a fault names its parameter (web.errors.parameter). */
import { z } from 'zod'
import { HubError } from '../../base/errors.ts'
import { echo } from '../../base/text.ts'

const listLimits = { least: 1, most: 200, usual: 50 } as const

const whole = (least: number, most: number, says: string) =>
  z
    .string()
    .regex(/^\d{1,16}$/, says)
    .transform(Number)
    .refine((value) => value >= least && value <= most, says)

export const limit = whole(
  listLimits.least,
  listLimits.most,
  `must be a whole number from ${listLimits.least} to ${listLimits.most}`,
).default(listLimits.usual)

export const pageNumber = whole(1, 1_000_000, 'must be a whole number from 1 on').optional()

/** The id of a message, or of whatever a list is ordered by. */
export const place = whole(0, Number.MAX_SAFE_INTEGER, 'must be the number of a message').optional()

export const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, { error: `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}` })

export const flag = z
  .enum(['0', '1'], { error: 'must be 0 or 1' })
  .transform((value) => value === '1')
  .optional()

/** Any text: what it names may not exist, which is no fault of its form. */
export const text = z.string().optional()

/** A day, or a time in ISO 8601; in milliseconds. */
export const time = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:?\d\d)?)?$/, 'must be a date such as 2026-01-31')
  .transform((value) => Date.parse(value))
  .refine((value) => !Number.isNaN(value), 'must be a date such as 2026-01-31')
  .optional()

export const importance = oneOf(['low', 'normal', 'high', 'urgent']).optional()

/** A field that a form left empty counts as not there; parameters that nobody knows are passed over. */
export function readQuery<Shape extends z.ZodObject>(shape: Shape, query: URLSearchParams): z.output<Shape> {
  const given: Record<string, string> = {}
  for (const name of Object.keys(shape.shape)) {
    const values = query.getAll(name).filter((value) => value !== '')
    if (new Set(values).size > 1) throw fault(name, 'must be given once')
    if (values[0] !== undefined) given[name] = values[0]
  }
  const read = shape.safeParse(given)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw fault(String(issue?.path[0] ?? 'query'), issue?.message ?? 'is not valid')
}

const fault = (name: string, says: string): HubError =>
  new HubError('INVALID_ARGUMENT', `The parameter "${echo(name)}" ${says}.`, {
    hint: 'Put it right in the address, or leave it out.',
  })
