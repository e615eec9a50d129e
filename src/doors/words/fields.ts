/** The fields that several doors take from outside, each checked by one schema in one wording. */
import { z } from 'zod'
import { HubError } from '../../base/errors.ts'
import { groupFault, isGroup } from '../../base/groups.ts'
import { limits } from '../../base/limits.ts'
import { agentNamePattern, agentNameRule, busNameFault, commons } from '../../base/names.ts'
import { bodyFault, clientIdFault, metadataFault, textFault } from '../../base/text.ts'
import { parseAddress } from './addresses.ts'

/** Makes a function that tells what is wrong with a text into a check of a schema. */
export const check = (faultOf: (text: string) => string | undefined) => (context: z.core.ParsePayload<string>) => {
  const message = faultOf(context.value)
  if (message !== undefined) context.issues.push({ code: 'custom', message, input: context.value })
}

export function agentAddressFault(address: string): string | undefined {
  const [name, project] = parseAddress(address)
  if (!agentNamePattern.test(name)) return `must be ${agentNameRule}; or such a name, "@" and a project`
  return project === undefined || projectKeyFault(project) === undefined
    ? undefined
    : 'must have the slug or key of a project behind the "@"'
}

/**
 * An agent as others may name it: with its project where that needs to be said (all.names.address). Its pattern is not
 * advertised: a model reads it in the error, and not a dozen times in a list of tools.
 */
export const agentAddress = z.string().check(check(agentAddressFault))

/** Whom a message is for. A "*" is refused by the verb as no broadcast, with the names of the agents there are (all.recipients.broadcast). */
export const recipientAddress = z
  .string()
  .check(check((address) => (parseAddress(address)[0] === '*' ? undefined : agentAddressFault(address))))

function recipientFault(address: string): string | undefined {
  const [name, project] = parseAddress(address)
  if (name === '*') return undefined
  return isGroup(name) ? groupFault(name, project) : agentAddressFault(address)
}

/** The same at doors that know groups: role:NAME, any:NAME, all:project. */
export const groupedAddress = z.string().check(check(recipientFault))

export const body = z.string().check(check(bodyFault))

export const clientId = z.string().check(check(clientIdFault))

/** Models write the number of a message as a number: it is taken, and advertised as text. */
export const messageName = z.union([clientId, z.int().nonnegative().transform(String)]).meta({ type: 'string' })

/** Any number of seconds; what is beyond MAX_WAIT_SECONDS is cut, not refused (all.wait.cut). */
export const waitSeconds = z.number().min(0)

/** The run that a client was started for, by the header X-Parley-Run (run.mail.handed). */
export const runIn = (query: Readonly<Record<string, unknown>>): { run?: string } => {
  const run = query['x-parley-run']
  return typeof run === 'string' ? { run } : {}
}

/** Seconds after which a message that nobody has read expires. */
export const ttlSeconds = z.number().positive().max(limits.durationSeconds)

export const toMs = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : Math.ceil(seconds * 1000)

export const busName = z
  .string()
  .check(check(busNameFault))
  .overwrite((name) => name.trim())

function titleFault(title: string): string | undefined {
  const trimmed = title.trim()
  if (trimmed === '' || [...trimmed].length > limits.titleLength)
    return `must have 1 to ${limits.titleLength} characters`
  return /\p{Cc}/u.test(trimmed) ? 'must not contain control characters' : textFault(trimmed)
}

/** Subjects and the names of topics. */
export const title = z
  .string()
  .check(check(titleFault))
  .overwrite((text) => text.trim())

/** A text of at most so many characters, as JavaScript counts them. */
export const text = (limit: number) =>
  z.string().check(
    check((value) => {
      if (value.length === 0 || value.length > limit)
        return `must have 1 to ${limit} characters; it has ${value.length}`
      return textFault(value)
    }),
  )

/** A JSON object that comes back as it was given: a copy by zod would lose a key such as `__proto__`. */
export const metadata = z
  .custom<Record<string, unknown>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be an object',
  )
  .check((context) => {
    const message = metadataFault(context.value)
    if (message !== undefined) context.issues.push({ code: 'custom', message, input: context.value })
  })
  .meta({ type: 'object' })

/** The body of a message in a topic. */
export const topicBody = text(limits.topicBodyLength)

/** The `message_type` of a message in a topic. */
export const messageKind = text(limits.kindLength)

export const reason = text(limits.reasonLength)

/** The fault of a project's human key (usually an absolute path) or slug. */
export function projectKeyFault(key: string): string | undefined {
  if (key.trim() === '' || key.length > limits.projectKeyLength)
    return `must have 1 to ${limits.projectKeyLength} characters`
  return /\p{Cc}/u.test(key) ? 'must not contain control characters' : textFault(key)
}

/** The project that `?project=` names, or what else stands for it: a slug or a key. */
export function projectParameter(
  { project = commons }: Record<string, unknown>,
  called = 'The query parameter "project"',
): string {
  const fault = typeof project === 'string' ? projectKeyFault(project) : 'must be given once'
  if (fault === undefined && typeof project === 'string') return project
  throw new HubError('INVALID_ARGUMENT', `${called} ${fault}.`, {
    hint: 'Name one slug or key, or leave the project out to use the common one.',
  })
}

export const idFault = 'must be an id, a whole number'

/** Ids are taken as numbers or as strings of digits and advertised as numbers: models write both. */
export const id = z
  .union(
    [
      z.int().positive(idFault),
      z
        .string()
        .regex(/^[1-9]\d{0,14}$/, idFault)
        .transform(Number),
    ],
    idFault,
  )
  .meta({ type: 'integer' })

function threadFault(key: string): string | undefined {
  if (key.length === 0 || [...key].length > limits.threadKeyLength)
    return `must have 1 to ${limits.threadKeyLength} characters`
  return /[\p{C}\p{Z}]/u.test(key.replaceAll(' ', '')) || key.trim() !== key
    ? 'must have visible characters only'
    : textFault(key)
}

/** Models write the number of a ticket or message as a number: it is taken, and advertised as text. */
export const threadKey = z
  .union([z.string().check(check(threadFault)), z.int().nonnegative().transform(String)])
  .meta({ type: 'string' })
