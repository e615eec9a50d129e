/** Projects and agents as the mail door shows them, and the fields in which an agent introduces itself. */
import { z } from 'zod'
import { isRole, roleKey, roleRule } from '../../base/groups.ts'
import { textFault } from '../../base/text.ts'
import type { Caller } from '../../core/access/callers.ts'
import { mayTakeName } from '../../core/access/rules.ts'
import type { Profile } from '../../core/agents/profiles.ts'
import type { Introduction, Registered } from '../../core/agents/registration.ts'
import type { CallContext } from '../mcp/table.ts'
import { check } from '../words/fields.ts'
import { toProfile } from '../words/profiles.ts'
import type { MailScope } from './scope.ts'

export const projectShape = z.object({
  id: z.number(),
  slug: z.string(),
  human_key: z.string(),
  created_at: z.string(),
  note: z.string().optional(),
})

/** Says little, because every tool that answers with a profile carries it in its schema. */
export const profileShape = z.looseObject({ name: z.string() })

/** The profile, why it has another name than was asked for, and how a name that was made up is kept (identity.name.made-up). */
export function toRegistered({ profile, renamed, generated }: Registered, { caller, scope }: Context) {
  const note = [renamed?.note, generated && scope.name === undefined ? keeping(profile.name, caller) : undefined]
    .filter((part) => part !== undefined)
    .join(' ')
  return {
    ...toProfile(profile),
    ...(renamed && { name_requested: renamed.requested }),
    ...(note !== '' && { note }),
  }
}

type Context = Pick<CallContext<MailScope>, 'caller' | 'scope'>

const keeping = (name: string, caller: Caller): string =>
  mayTakeName(caller)
    ? `The name was made up. To be ${name} again in the next session, set the header "X-Parley-Agent: ${name}" in your client's settings, or AGENT_NAME=${name} where it was set up by parley init or runs parley connect.`
    : `The name was made up. To be ${name} again in the next session, pass it when you begin.`

/** One of those whom a newcomer may write to. */
export function toActive(profile: Profile) {
  const { name, task_description, last_active_ts, roles } = toProfile(profile)
  return { name, task_description, last_active_ts, ...(roles && { roles }) }
}

const labelLength = 128
const taskLength = 2000

function labelFault(label: string): string | undefined {
  if (label.trim() === '' || label.length > labelLength) return `must have 1 to ${labelLength} characters`
  return /\p{Cc}/u.test(label) ? 'must not contain control characters' : textFault(label)
}

const label = z
  .string()
  .check(check(labelFault))
  .overwrite((text) => text.trim())
  .optional()

export const program = label.describe('E.g. claude-code.')
export const model = label.describe('Your model.')

function taskFault(task: string): string | undefined {
  if (task.length > taskLength) return `must have at most ${taskLength} characters; it has ${task.length}`
  return /\p{Cc}/u.test(task.replaceAll('\n', ''))
    ? 'must not contain control characters other than newlines'
    : textFault(task)
}

export const task = z.string().check(check(taskFault)).optional().describe('Your present task.')

function wishFault(name: string): string | undefined {
  return name.length > labelLength ? `must have at most ${labelLength} characters` : textFault(name)
}

/** The wish of an agent for its name: judged by the rules for names, not refused here. */
export const wish = z.string().check(check(wishFault)).optional()

/** Whose images: the sender's own, since one message goes to all. */
export const attachmentsPolicy = z
  .enum(['auto', 'inline', 'file'])
  .optional()
  .describe('Where images you send are kept.')

const mostRoles = 10

/** Roles are kept without case. */
export const roles = z
  .array(
    z
      .string()
      .check(check((role) => (isRole(role) ? undefined : roleRule)))
      .overwrite(roleKey),
  )
  .max(mostRoles)
  .optional()

interface Given {
  readonly project: string
  readonly program?: string | undefined
  readonly model?: string | undefined
  readonly task_description?: string | undefined
  readonly attachments_policy?: 'auto' | 'inline' | 'file' | undefined
  readonly roles?: readonly string[] | undefined
}

export const introduction = (
  { client, self }: CallContext<MailScope>,
  { project, program, model, task_description: task, attachments_policy: attachments, roles }: Given,
): Introduction => ({
  project,
  program,
  model,
  task,
  attachments,
  roles,
  client: client && clientLabel(client.name),
  settled: self?.name !== undefined,
})

/** Clients may call themselves anything; characters that cannot be shown are left out. */
function clientLabel(name: string): string | undefined {
  return (
    name
      .replace(/\p{Cc}+/gu, ' ')
      .trim()
      .slice(0, labelLength)
      .toWellFormed() || undefined
  )
}
