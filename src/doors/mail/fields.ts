/** The fields that several tools and resources of the mail door take. */
import { z } from 'zod'
import { groupFault, isGroup } from '../../base/groups.ts'
import { limits } from '../../base/limits.ts'
import { agentNamePattern, commons, isAbsolutePath, tidyKey } from '../../base/names.ts'
import { bodyFault, textFault } from '../../base/text.ts'
import type { Acting } from '../../core/agents/acting.ts'
import type { Address } from '../../core/messages/send.ts'
import type { CallContext } from '../mcp/table.ts'
import { parseAddress } from '../words/addresses.ts'
import { agentAddress, agentAddressFault, check, idFault, projectKeyFault } from '../words/fields.ts'
import { numberParameter } from '../words/parameters.ts'
import type { MailScope } from './scope.ts'

/** A human key (usually an absolute path) or a slug. */
export const projectKey = z.string().check(check(projectKeyFault))

/** A project is made under such a key only: a name that some other call made up would not be found again. */
export const humanKey = projectKey
  .check(
    check((key) =>
      isAbsolutePath(key) || tidyKey(key) === commons
        ? undefined
        : 'must be the absolute path of the repository, such as /srv/code/app, C:\\code\\app or \\\\server\\app, or "commons"',
    ),
  )
  .describe('Absolute path of the repository.')

export const name = agentAddress

/** Another agent: its address says more than the argument that names its project. */
export function otherAgent<Project extends string | undefined = undefined>(address: string, project?: Project) {
  const [name, home] = parseAddress(address)
  return { name, project: home ?? (project as Project) }
}

const placeFault = 'must be an id or 0, a whole number'

/** A place among ids, which need be the id of nothing; 0 is before the first. */
export const place = z
  .union(
    [
      z.int().nonnegative(placeFault),
      z
        .string()
        .regex(/^\d{1,15}$/, placeFault)
        .transform(Number),
    ],
    placeFault,
  )
  .meta({ type: 'integer' })

/** ISO 8601 with a time zone; without one it is UTC. */
export const since = z
  .string()
  .check(check((text) => (parseTime(text) === undefined ? 'must be a time such as 2026-01-31T12:00:00Z' : undefined)))

/** A `+` that nobody escaped in a URI is read as a space. */
const isoTime = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(?:Z|([+ -])(\d{2}):?(\d{2}))?)?$/

export function parseTime(text: string): number | undefined {
  const found = isoTime.exec(text)
  if (found === null) return undefined
  const [, day, time = '00:00', sign, hours, minutes] = found
  const zone = sign === undefined ? 'Z' : `${sign === '-' ? '-' : '+'}${hours}:${minutes}`
  const ms = Date.parse(`${day}T${time}${zone}`)
  return Number.isNaN(ms) ? undefined : ms
}

/** Whom a call acts as: on this door an agent registers first. */
export function acting({ caller }: CallContext<MailScope>, project: string, agent: string): Acting {
  const [name, home] = parseAddress(agent)
  return { caller, project, name, home, registered: true }
}

/** How long ago, in seconds or minutes. */
export const ageParameter = numberParameter(0, limits.durationSeconds)

export const flagParameter = (usual: boolean) =>
  z
    .enum(['true', 'false', '1', '0', 'yes', 'no'], 'must be true or false')
    .default(usual ? 'true' : 'false')
    .transform((word) => word === 'true' || word === '1' || word === 'yes')

export const projectParameter = z
  .string('is missing: name the project by its slug or key')
  .check(check(projectKeyFault))

export const agentParameter = z
  .string(
    'is missing: name the agent, as in resource://inbox/GreenCastle; a key, X-Parley-Agent or ?agent= tells it too',
  )
  .check(check(agentAddressFault))

export const idParameter = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, idFault)
  .transform(Number)

export const placeParameter = z
  .string()
  .regex(/^\d{1,15}$/, placeFault)
  .transform(Number)

function addressFault(address: string): string | undefined {
  const [name, project] = parseAddress(address)
  // Refused as no broadcast, with the names of the agents there are.
  if (name === '*') return undefined
  if (isGroup(name)) return groupFault(name, project)
  if (!agentNamePattern.test(name) || project === '') return 'must be the name of an agent, or name@project'
  return project && projectKeyFault(project) && 'must be name@project, with a slug or key'
}

/** How many one message may go to, in all: whoever lists it reads them all. */
const mostRecipients = 100

/** Names, or addresses such as `BlueLake@frontend-3f9a1c`. */
export const recipients = z.array(z.string().check(check(addressFault))).max(mostRecipients)

/** Where images may be taken out of it, its length is counted after that (mail.attach.body). */
export const enclosingBody = z
  .string()
  .check(check((body) => (/data:/i.test(body) ? textFault(body) : bodyFault(body))))

export const attachmentPaths = z
  .array(z.string().min(1).check(check(textFault)))
  .max(limits.attachments)
  .optional()

export const convertImages = z.boolean().optional()

interface Addressed {
  readonly to?: readonly string[] | undefined
  readonly cc?: readonly string[] | undefined
  readonly bcc?: readonly string[] | undefined
}

/** For the arguments as a whole. Without `to` a reply goes to the author of the message, who counts as one. */
export function checkRecipients({ value, issues }: z.core.ParsePayload<Addressed>): void {
  const { to, cc = [], bcc = [] } = value
  const count = (to?.length ?? 1) + cc.length + bcc.length
  if (count <= mostRecipients) return
  const message = `must have at most ${mostRecipients} names together with cc and bcc; there are ${count}`
  issues.push({ code: 'custom', message, path: ['to'], input: to })
}

export function toAddresses(addresses: readonly string[], kind: 'to' | 'cc' | 'bcc'): Address[] {
  return addresses.map((address) => {
    const [name, project] = parseAddress(address)
    return project === undefined ? { name, kind } : { name, project, kind }
  })
}
