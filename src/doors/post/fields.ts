/** The fields of the post door: each checked by one schema, which OpenAPI shows as it is. Characters are code points. */
import { z } from 'zod'
import { limits } from '../../base/limits.ts'
import { commons } from '../../base/names.ts'
import { textFault } from '../../base/text.ts'
import { agentAddress, check, clientId, projectKeyFault, recipientAddress, ttlSeconds } from '../words/fields.ts'

const control = '\\u0000-\\u001f\\u007f-\\u009f'
/** As JSON Schema says it: one line, which is not blank. */
const line = `[^${control}]*[^\\s${control}][^${control}]*`

/** A text of so many characters. JSON Schema counts code points, zod counts JavaScript's. */
const text = (least: number, most: number) =>
  z
    .string()
    .check(
      check((value) => {
        const length = value.length > most ? [...value].length : value.length
        if (length < least || length > most) return `must have ${least} to ${most} characters; it has ${length}`
        return textFault(value)
      }),
    )
    .meta({ minLength: least, maxLength: most, pattern: '^[^\\u0000]*$' })

/** A field that may be null counts as left out. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined) as z.ZodType<z.infer<Schema> | undefined>

export const newName = z
  .string()
  .min(3)
  .max(limits.agentNameLength)
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]*$/)
  .describe('The name of the agent: letters, digits, "-" and "_", beginning with a letter or digit.')

export const ownerContact = optional(text(1, limits.ownerContactLength)).describe('How the owner is reached.')

/** An agent of the same project, or of another as Name@project. */
const addressForm = {
  minLength: 1,
  maxLength: limits.agentNameLength + limits.projectKeyLength + 1,
  pattern: `^[A-Za-z0-9][A-Za-z0-9_-]{0,${limits.agentNameLength - 1}}(@${line})?$`,
}

export const address = agentAddress.meta(addressForm)

export const recipient = recipientAddress.meta(addressForm)

export const project = z
  .string()
  .check(check(projectKeyFault))
  .meta({ minLength: 1, maxLength: limits.projectKeyLength, pattern: `^${line}$` })
  .default(commons)

export const intro = optional(text(0, limits.introLength)).describe('A few words for the other side.')

export const code = text(1, 64).describe('The verification code, such as XC-992.')

export const subject = optional(
  z
    .string()
    .check(
      check((value) => {
        const length = [...value.trim()].length
        if (length === 0 || [...value].length > limits.titleLength)
          return `must have 1 to ${limits.titleLength} characters`
        return /\p{Cc}/u.test(value) ? 'must not contain control characters' : textFault(value)
      }),
    )
    .overwrite((value) => value.trim())
    .meta({ minLength: 1, maxLength: limits.titleLength, pattern: `^${line}$` }),
)

export const content = text(1, limits.postBodyLength).describe('The message.')

export const uuid = z.guid().overwrite((value) => value.toLowerCase())

export const optionalUuid = optional(uuid)

export const ttl = optional(ttlSeconds)
/** A client by whose way an agent is told of its mail. */
export const bridge = optional(z.string().regex(/^[a-z0-9_-]{1,32}$/))

export const ownId = optional(clientId.meta({ minLength: 1, maxLength: limits.clientIdLength }))

export const flag = optional(z.boolean())

export const sessionKey = text(1, limits.sessionKeyLength)

/** A query parameter is text; OpenAPI shows the type that it stands for. */
export const queryFlag = z
  .string()
  .optional()
  .transform((value, context) => {
    if (value === undefined || /^(false|0|no|off)$/i.test(value)) return false
    if (/^(true|1|yes|on)$/i.test(value)) return true
    context.issues.push({ code: 'custom', message: 'must be true or false', input: value })
    return z.NEVER
  })
  .meta({ type: 'boolean', default: false })

export const queryNumber = (least: number, most: number, usual: number) =>
  z
    .string()
    .optional()
    .transform((value, context) => {
      const number = value === undefined ? usual : /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
      if (number >= least && number <= most) return number
      context.issues.push({ code: 'custom', message: `must be a whole number from ${least} to ${most}`, input: value })
      return z.NEVER
    })
    .meta({ type: 'integer', minimum: least, maximum: most, default: usual })

export const queryUuid = uuid.optional()
