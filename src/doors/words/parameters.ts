/** The parameters of resources, which come as text. */
import { z } from 'zod'
import { HubError } from '../../base/errors.ts'

/** Reads the parameters of a resource by a schema; what is wrong with them is an error like a tool's. */
export function readParameters<Schema extends z.ZodObject>(
  schema: Schema,
  params: Readonly<Record<string, string>>,
): z.output<Schema> {
  const read = schema.safeParse(params)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new HubError('INVALID_ARGUMENT', `The parameter "${issue?.path.join('.')}" ${issue?.message}.`, {
    hint: `Parameters of this resource: ${Object.keys(schema.shape).join(', ')}.`,
  })
}

/** Resources write numbers and flags as text. */
export const numberParameter = (least: number, most: number) => {
  const fault = `must be a whole number from ${least} to ${most}`
  return z
    .string()
    .regex(/^\d{1,15}$/, fault)
    .transform(Number)
    .pipe(z.number().min(least, fault).max(most, fault))
}

export const limitParameter = (usual: number, most: number) => numberParameter(1, most).default(usual)
