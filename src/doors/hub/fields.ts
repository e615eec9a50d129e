/** The fields that several tools of the hub door take. */
import { z } from 'zod'
import { limits } from '../../base/limits.ts'
import { linkFault } from '../../base/text.ts'
import type { Hub } from '../../core/hub/hub.ts'
import type { Patience } from '../../core/threads/replies.ts'
import type { CallContext } from '../mcp/table.ts'
import { parseAddress } from '../words/addresses.ts'
import { check } from '../words/fields.ts'
import type { HubScope } from './scope.ts'

export const pageLimits = { usual: 50, most: 200 } as const

export const limit = z.int().min(1).max(pageLimits.most).default(pageLimits.usual)

/** A place in a thread, as `next_cursor` told it. */
export const cursor = z
  .union([
    z.string().regex(/^\d{1,15}$/, 'must be a next_cursor of an answer before'),
    z.int().nonnegative().transform(String),
  ])
  .transform(Number)
  .meta({ type: 'string' })

export const offset = z.int().min(0)

export const links = z.array(z.string().check(check(linkFault))).max(limits.attachments)

/** A resource_link is taken as its URI. */
export function withLinks(args: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(args.attachments)) return args
  const uriOf = (one: unknown) => (typeof one === 'object' && one !== null && 'uri' in one ? one.uri : one)
  return { ...args, attachments: args.attachments.map(uriOf) }
}

export const addressOf = (text: string) => {
  const [name, project] = parseAddress(text)
  return { name, project }
}

/** The longest that a task waits. */
const taskWaitMs = 86_400_000

/** A task waits on from when it began, whoever runs it now; a call no longer than the server lets it. */
export function patienceOf(
  { clock }: Hub,
  { task, signal, stopping }: CallContext<HubScope>,
  waitMs: number,
): Patience {
  if (task === undefined) return { waitMs, signals: [signal, stopping], door: 'hub' }
  const until = task.at + Math.min(waitMs, taskWaitMs)
  return { waitMs: Math.max(0, until - clock.now()), limitMs: taskWaitMs, signals: [signal], door: 'hub' }
}
