/** One message, with the state of each recipient in words and the thread around it. */
import { HubError } from '../../base/errors.ts'
import type { Ending } from '../../store/messages/deliveries.ts'
import { isInProject, type PageRecipientRow } from '../../store/pages/page-messages.ts'
import { listAround } from '../../store/pages/threads.ts'
import type { Caller } from '../access/callers.ts'
import { agentOf, pageSight } from '../access/rules.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { needProject, slugOfProject } from '../projects/projects.ts'
import { listPageMessages, listWithRows, type MessageWithRows, type PageMessage, type Who } from './page-message.ts'

export interface RecipientState extends Who {
  readonly kind: 'to' | 'cc' | 'bcc'
  readonly state: 'unread' | 'read' | 'acknowledged' | 'overdue' | Ending
  readonly readAt: number | undefined
  readonly ackedAt: number | undefined
}

export interface ShownMessage extends PageMessage {
  /** Undefined where it is sealed. */
  readonly body: string | undefined
  readonly replyTo: number | undefined
  readonly states: readonly RecipientState[]
  /** Some messages of its thread before and after it, in their order. */
  readonly around: readonly PageMessage[]
}

const wholeBody = 2 ** 31 - 1
const each = 10

/** A message that one may not see, and one that is not there, look alike. */
export async function showMessage(hub: Hub, caller: Caller, project: string, id: number): Promise<ShownMessage> {
  const home = await needProject(hub, caller, project)
  const sight = pageSight(caller)
  const [seen] = (await isInProject(reader(hub), id, home.id))
    ? await listWithRows(hub, sight, [id], { length: wholeBody })
    : []
  // An agent of another project got it: its own box shows it, under its own project.
  const own = seen ?? (agentOf(caller) && (await listWithRows(hub, sight, [id], { length: wholeBody }))[0])
  if (own === undefined) throw new HubError('MESSAGE_NOT_FOUND', `The project ${home.slug} has no message ${id}.`)
  return toShown(hub, caller, own)
}

/** The same for a reader that knows its number only: numbers are those of all projects together. */
export async function readMessage(hub: Hub, caller: Caller, id: number): Promise<ShownMessage> {
  const [seen] = await listWithRows(hub, pageSight(caller), [id], { length: wholeBody })
  if (seen === undefined) throw new HubError('MESSAGE_NOT_FOUND', `There is no message ${id}.`)
  return toShown(hub, caller, seen)
}

async function toShown(hub: Hub, caller: Caller, { message, row, recipients }: MessageWithRows): Promise<ShownMessage> {
  const states: RecipientState[] = []
  for (const one of recipients)
    states.push({
      name: one.name,
      project: await slugOfProject(hub, one.project_id),
      kind: one.kind,
      state: stateOf(hub, one),
      readAt: one.read_at ?? undefined,
      ackedAt: one.acked_at ?? undefined,
    })
  const around = await listPageMessages(hub, pageSight(caller), await listAround(reader(hub), message.id, each))
  return {
    ...message,
    body: message.sealed ? undefined : row.body,
    replyTo: row.reply_to ?? undefined,
    states,
    around,
  }
}

/** While its acknowledgement is overdue that says more than whether it was read. */
function stateOf(hub: Hub, row: PageRecipientRow): RecipientState['state'] {
  if (row.acked_at !== null) return 'acknowledged'
  if (row.ended !== null) return row.ended
  if (row.ack_wanted === 1 && row.sent_at <= hub.clock.now() - hub.rules.overdueMs) return 'overdue'
  return row.read_at === null ? 'unread' : 'read'
}
