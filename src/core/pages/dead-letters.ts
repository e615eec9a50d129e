/** Dead letters, as people see and steer them: mail that was handed out too often and never confirmed. */
import { HubError } from '../../base/errors.ts'
import { updateUnread } from '../../store/agents/agents.ts'
import { type DeadRow, listDead, updateDropped, updateRetried, updateUndropped } from '../../store/mail/endings.ts'
import type { Sight } from '../../store/visibility.ts'
import type { Caller } from '../access/callers.ts'
import { needPerson, pageSight } from '../access/rules.ts'
import { mailChannel } from '../agents/agents.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { slugOfProject } from '../projects/projects.ts'
import { readMessage, type ShownMessage } from './message.ts'
import { listPageMessages, type PageMessage, type Who } from './page-message.ts'

export interface DeadLetter {
  readonly message: PageMessage
  readonly recipient: Who
  /** How often it was handed out. */
  readonly attempts: number
  readonly diedAt: number
}

interface DeadLetters {
  readonly letters: readonly DeadLetter[]
  readonly more: boolean
}

export async function listDeadLetters(hub: Hub, caller: Caller, { limit }: { limit: number }): Promise<DeadLetters> {
  needPerson(caller)
  const rows = await listDead(reader(hub), { limit: limit + 1 })
  return { letters: await lettersOf(hub, pageSight(caller), rows.slice(0, limit)), more: rows.length > limit }
}

/** More recipients than this no message has. */
const mostOfOne = 1000

export async function showDeadLetter(
  hub: Hub,
  caller: Caller,
  messageId: number,
): Promise<{ readonly shown: ShownMessage; readonly letters: readonly DeadLetter[] }> {
  needPerson(caller)
  const letters = await lettersOf(hub, pageSight(caller), await needDead(hub, messageId))
  return { shown: await readMessage(hub, caller, messageId), letters }
}

/** Puts a dead letter back into the mailboxes of all for whom it is dead, as if it had just been sent. */
export async function retryDeadLetter(hub: Hub, caller: Caller, messageId: number): Promise<Who[]> {
  needPerson(caller)
  const rows = await needDead(hub, messageId)
  const back = await commit(hub, caller, async (tx, note) => {
    const done: DeadRow[] = []
    // By the ids of agents, the order in which sends lock them.
    for (const row of rows.toSorted((a, b) => a.recipient_id - b.recipient_id)) {
      const { id, recipient_id: agentId } = row
      if (!(await updateRetried(tx, id))) continue
      updateUnread(tx, agentId, 1)
      note({ kind: 'mail.returned', ...stepOf(row), wakes: [mailChannel(agentId)] })
      done.push(row)
    }
    return done
  })
  return whoOf(hub, back)
}

/** Takes a dead letter off the list for good; the message stays in its thread. */
export async function dropDeadLetter(hub: Hub, caller: Caller, messageId: number): Promise<Who[]> {
  needPerson(caller)
  const rows = await needDead(hub, messageId)
  const dropped = await commit(hub, caller, async (tx, note) => {
    const done: DeadRow[] = []
    for (const row of rows) if (await updateDropped(tx, row.id)) done.push(row)
    for (const row of done) note({ kind: 'mail.dropped', ...stepOf(row) })
    return done
  })
  return whoOf(hub, dropped)
}

/** Puts a dead letter that was taken off the list back onto it. */
export async function undropDeadLetter(hub: Hub, caller: Caller, messageId: number): Promise<void> {
  needPerson(caller)
  const back = await commit(hub, caller, async (tx, note) => {
    await updateUndropped(tx, messageId)
    const rows = await listDead(tx, { messageId, limit: mostOfOne })
    for (const row of rows) note({ kind: 'mail.dead', ...stepOf(row) })
    return rows.length
  })
  if (back === 0) throw new HubError('NOT_FOUND', `Message ${messageId} was not dropped.`)
}

const stepOf = ({ project_id: projectId, recipient_id: agentId, message_id: messageId }: DeadRow) => ({
  projectId,
  agentId,
  messageId,
})

async function needDead(hub: Hub, messageId: number): Promise<DeadRow[]> {
  const rows = await listDead(reader(hub), { messageId, limit: mostOfOne })
  if (rows.length > 0) return rows
  throw new HubError('NOT_FOUND', `Message ${messageId} is no dead letter.`)
}

/** Letters in sight: a blind copy is left out for all who may not know of it. */
export async function lettersOf(hub: Hub, sight: Sight, rows: readonly DeadRow[]): Promise<DeadLetter[]> {
  const ids = [...new Set(rows.map(({ message_id }) => message_id))]
  const messages = new Map((await listPageMessages(hub, sight, ids)).map((one) => [one.id, one]))
  const letters: DeadLetter[] = []
  for (const row of rows) {
    const message = messages.get(row.message_id)
    const [recipient] = await whoOf(hub, [row])
    if (message === undefined || recipient === undefined || !isTold(message, recipient)) continue
    letters.push({ message, recipient, attempts: row.attempts, diedAt: row.died_at })
  }
  return letters
}

const isTold = ({ to, cc, bcc }: PageMessage, { name, project }: Who): boolean =>
  [...to, ...cc, ...bcc].some((one) => one.name === name && one.project === project)

async function whoOf(hub: Hub, rows: readonly DeadRow[]): Promise<Who[]> {
  const who: Who[] = []
  for (const { name, project_id } of rows) who.push({ name, project: await slugOfProject(hub, project_id) })
  return who
}
