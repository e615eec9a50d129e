/** Decisions of people in the place of agents: mail marked as read, contact approved or denied, reminders to those who are late. */
import { HubError } from '../../base/errors.ts'
import { isReserved } from '../../base/names.ts'
import { withPreamble } from '../../base/preamble.ts'
import { updateUnread } from '../../store/agents/agents.ts'
import { listUnreadIds, updateAllRead, updateAllUnread } from '../../store/messages/deliveries.ts'
import { listOwed } from '../../store/pages/board.ts'
import { takeReminder } from '../../store/pages/late-mail.ts'
import { isInProject } from '../../store/pages/page-messages.ts'
import type { Caller } from '../access/callers.ts'
import { needPerson, pageSight } from '../access/rules.ts'
import { type Agent, findIn, mailChannel, needAgent, noAgent } from '../agents/agents.ts'
import { answerRequest, reopenRequest } from '../contact-requests/requests.ts'
import type { Contact } from '../contacts/links.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { findProjectCalled, needProject, type Project, slugOfProject } from '../projects/projects.ts'
import { write } from './overseer.ts'
import { listWithRows, sealedMail, type Who } from './page-message.ts'

/** Others wait for the commit. */
const idsPerCommit = 200

/** Returns how many were unread. The agent will not be offered these again. */
export async function markReadFor(
  hub: Hub,
  caller: Caller,
  project: string,
  { name, ids }: { readonly name: string; readonly ids: readonly number[] | 'all' },
): Promise<number> {
  needPerson(caller)
  const agent = await needAgent(hub, caller, project, name)
  if (ids !== 'all') {
    let marked = 0
    for (let at = 0; at < ids.length; at += idsPerCommit)
      marked += await mark(hub, caller, { agent, ids: ids.slice(at, at + idsPerCommit) })
    return marked
  }
  for (let marked = 0; ; ) {
    const some = await listUnreadIds(reader(hub), agent.id, idsPerCommit)
    marked += some.length === 0 ? 0 : await mark(hub, caller, { agent, ids: some })
    if (some.length < idsPerCommit) return marked
  }
}

function mark(hub: Hub, caller: Caller, { agent, ids }: { agent: Agent; ids: readonly number[] }): Promise<number> {
  return commit(hub, caller, async (tx, note) => {
    const read = await updateAllRead(tx, { recipientId: agent.id, messageIds: ids, now: hub.clock.now() })
    if (read.length > 0) await updateUnread(tx, agent.id, -read.length)
    for (const messageId of read) note({ kind: 'mail.read', projectId: agent.projectId, agentId: agent.id, messageId })
    return read.length
  })
}

/** Takes `markReadFor` back, but for what the agent has acknowledged since. Returns how many are unread again. */
export async function markUnreadFor(
  hub: Hub,
  caller: Caller,
  project: string,
  { name, ids }: { readonly name: string; readonly ids: readonly number[] },
): Promise<number> {
  needPerson(caller)
  const { id: agentId, projectId } = await needAgent(hub, caller, project, name)
  if (ids.length === 0) return 0
  return commit(hub, caller, async (tx, note) => {
    const unread = await updateAllUnread(tx, { recipientId: agentId, messageIds: ids.slice(0, idsPerCommit) })
    if (unread.length > 0) await updateUnread(tx, agentId, unread.length)
    for (const messageId of unread)
      note({ kind: 'mail.returned', projectId, agentId, messageId, wakes: [mailChannel(agentId)] })
    return unread.length
  })
}

interface Asking {
  /** The agent that asked: `Name`, or `Name@slug`. */
  readonly from: string
  /** The agent that was asked. */
  readonly to: string
}

/** Answers a request for contact in the place of the agent that was asked. */
export async function decideContact(
  hub: Hub,
  caller: Caller,
  project: string,
  { accept, ...asking }: Asking & { readonly accept: boolean },
): Promise<Contact> {
  needPerson(caller)
  const { me, other } = await partiesOf(hub, caller, project, asking)
  return answerRequest(hub, caller, { me, other, from: { name: other.name }, accept })
}

/** The agent that was asked, and the one that asked it. */
async function partiesOf(hub: Hub, caller: Caller, project: string, { from, to }: Asking) {
  const home = await needProject(hub, caller, project)
  const [other, me] = [await called(hub, caller, home, from), await called(hub, caller, home, to)]
  // One of the two is of this project.
  if (other.projectId !== home.id && me.projectId !== home.id)
    throw await noAgent(hub, caller, { home, name: to, reason: 'no_agent' })
  return { me, other }
}

/** Takes a denial back: the request waits for its answer again. */
export async function undoDenial(hub: Hub, caller: Caller, project: string, asking: Asking): Promise<Contact> {
  needPerson(caller)
  return reopenRequest(hub, caller, await partiesOf(hub, caller, project, asking))
}

async function called(hub: Hub, caller: Caller, home: Project, name: string): Promise<Agent> {
  const at = name.lastIndexOf('@')
  const project = at > 0 ? await findProjectCalled(hub, name.slice(at + 1)) : home
  const agent = project && (await findIn(hub, project.id, at > 0 ? name.slice(0, at) : name))
  if (agent === undefined) throw await noAgent(hub, caller, { home, name, reason: 'no_agent' })
  return agent
}

interface Reminded {
  readonly reminded: readonly Who[]
  /** Agents that were reminded of it within the hour, and agents whose mailbox is full. */
  readonly waiting: readonly Who[]
}

const remindedEveryMs = 3_600_000

/** One overseer message to each who has not read the mail, or owes its acknowledgement; at most one an hour. */
export async function remind(hub: Hub, caller: Caller, messageId: number): Promise<Reminded> {
  needPerson(caller)
  const [seen] = await listWithRows(hub, pageSight(caller), [messageId])
  if (seen === undefined || !(await isInProject(reader(hub), messageId, seen.row.project_id)))
    throw new HubError('MESSAGE_NOT_FOUND', `There is no message ${messageId}.`)
  const { row, recipients } = seen
  const reminded: Who[] = []
  const waiting: Who[] = []
  const now = hub.clock.now()
  for (const one of recipients) {
    const owes = one.ack_wanted === 1 && one.acked_at === null
    if (one.ended !== null || (one.read_at !== null && !owes) || isReserved(one.name)) continue
    const slug = await slugOfProject(hub, one.project_id)
    const who = { name: one.name, project: slug }
    const due = await commit(hub, caller, (tx) =>
      takeReminder(tx, { messageId, recipientId: one.id, now, since: now - remindedEveryMs }),
    )
    if (!due) {
      waiting.push(who)
      continue
    }
    const outcome = await write(hub, caller, {
      project: { id: one.project_id, slug, key: slug, createdAt: 0 },
      agents: [{ id: one.id, projectId: one.project_id, name: one.name }],
      draft: reminder({
        id: messageId,
        from: row.sender,
        subject: row.subject || sealedMail,
        sentAt: one.sent_at,
        owes,
      }),
    })
    ;(outcome instanceof HubError ? waiting : reminded).push(who)
  }
  return { reminded, waiting }
}

/** One overseer message to an agent, of all acknowledgements that it owes; each is named at most once an hour. */
export async function remindAgent(
  hub: Hub,
  caller: Caller,
  project: string,
  name: string,
): Promise<{ readonly agent: Who; readonly messages: readonly number[] }> {
  needPerson(caller)
  const home = await needProject(hub, caller, project)
  const agent = await needAgent(hub, caller, project, name)
  const now = hub.clock.now()
  const owed = (
    await listOwed(
      reader(hub),
      { projectId: home.id },
      { sight: pageSight(caller), sentBefore: now - hub.rules.overdueMs, limit: mostOwed },
    )
  ).filter(({ recipient_id }) => recipient_id === agent.id)
  const due = await commit(hub, caller, async (tx) => {
    const taken: number[] = []
    for (const { message_id: messageId } of owed)
      if (await takeReminder(tx, { messageId, recipientId: agent.id, now, since: now - remindedEveryMs }))
        taken.push(messageId)
    return taken
  })
  const seen = await listWithRows(hub, pageSight(caller), due)
  const [first] = seen
  if (first !== undefined) {
    const lines = seen.map(({ row }) => `- ${waiting({ ...row, from: row.sender, sentAt: row.created_at })}`)
    const subject = seen.length === 1 ? subjectOf(first.row.subject) : `${seen.length} acknowledgements`
    const body = withPreamble(
      `These messages wait for your acknowledgement:\n\n${lines.join('\n')}\n\nPlease read and acknowledge them.`,
    )
    const outcome = await write(hub, caller, {
      project: home,
      agents: [agent],
      draft: { subject: `Reminder: ${subject}`, body },
    })
    if (outcome instanceof HubError) throw outcome
  }
  return { agent: { name: agent.name, project: home.slug }, messages: due }
}

const mostOwed = 500

interface Reminding {
  readonly id: number
  readonly from: string
  readonly subject: string
  readonly sentAt: number
  readonly owes: boolean
}

const subjectOf = (text: string): string => ((text || sealedMail).split('\n', 1)[0] ?? '').slice(0, 200)

const waiting = ({ id, from, subject, sentAt }: Omit<Reminding, 'owes'>): string =>
  `Message ${id} from ${from}, ${JSON.stringify(subjectOf(subject))}, sent ${new Date(sentAt).toISOString()}`

function reminder({ id, from, subject: text, sentAt, owes }: Reminding) {
  const subject = subjectOf(text)
  const asked = owes ? 'Please read it and acknowledge it.' : 'Please read it.'
  return {
    subject: `Reminder: ${subject}`,
    // All who are late with a message are reminded in one thread.
    thread: `reminder-${id}`,
    body: withPreamble(`${waiting({ id, from, subject, sentAt })}, waits for you. ${asked}`),
  }
}
