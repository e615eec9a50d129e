/** The contact rule, asked before every addressed send at every door (mail.contact.order, mail.contact.every-door). */
import { type Code, HubError, type Reason } from '../../base/errors.ts'
import { nameKey } from '../../base/names.ts'
import type { Tx } from '../../db/port.ts'
import type { RecipientRow } from '../../store/agents/agents.ts'
import {
  approveContacts,
  type ContactRow,
  extendContacts,
  fileContacts,
  listContactsBetween,
  listContactsElsewhere,
} from '../../store/contacts/contacts.ts'
import { listAnswerable } from '../../store/contacts/grounds.ts'
import { listThreadsOf } from '../../store/threads/mail-threads.ts'
import { type Agent, contactChannel } from '../agents/agents.ts'
import type { Note } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { findGrounds } from './grounds.ts'
import { blocksAll, contactFirst, contactMade, declined, onlyContacts, requestFiled } from './refusals.ts'
import { endAfter, endOf, type Link, linksOf, renewedBefore, usualTtlMs } from './standing.ts'

interface Judging {
  readonly tx: Tx
  readonly note: Note
  readonly sender: Agent
  /** Only recipients that are not open to all. */
  readonly recipients: readonly { readonly agent: Agent; readonly row: RecipientRow }[]
  /** The thread that the message joins, if there is one. */
  readonly threadId: number | undefined
  /** The name that the message gives to its thread: in another project a thread of this name is the same conversation. */
  readonly threadKey: string | undefined
  /** Whether contact is made where a policy wants it first. */
  readonly handshake: boolean
}

export interface Refusal {
  readonly code: Code
  readonly reason?: Reason
  readonly message: string
  readonly hint: string
}

/** The reasons for which a message may not reach some of its recipients, by the id of the agent. All others are reached. */
type Refusals = ReadonlyMap<number, Refusal>

export interface Judgement {
  readonly refusals: Refusals
  /** Agents that were asked for contact because of the message, and are due a message about that. */
  readonly asked: readonly Agent[]
}

/** A request repeated within this time is renewed, but the other gets no second message. */
const quietMs = 86_400_000

/** Whether the other is due a message about a request: never told of it, has answered since, or has long been silent. */
export const isNews = (link: ContactRow | undefined, now: number): boolean =>
  link === undefined || link.status !== 'pending' || now - link.updated_at >= quietMs

/** Not asked for a request for contact, nor for a person who watches over all: both are above the policies. */
export async function judge(hub: Hub, judging: Judging): Promise<Judgement> {
  const { tx, sender } = judging
  const refusals = new Map<number, Refusal>()
  const asked: Agent[] = []
  const policies = new Map(judging.recipients.map(({ agent, row }) => [agent.id, row.contact_policy]))
  for (const { agent, row } of judging.recipients) {
    if (row.contact_policy === 'block_all') refusals.set(agent.id, blocksAll(agent))
    else asked.push(agent)
  }
  if (asked.length === 0) return { refusals, asked: [] }

  const now = hub.clock.now()
  const between = await listContactsBetween(tx, sender.id, idsOf(asked))
  const links = linksOf(sender, between, { now, policyOf: (id) => policies.get(id) })
  await keepAlive(hub, judging, links)
  const unknown = asked.filter(({ id }) => links.get(id)?.standing !== 'approved')
  if (unknown.length === 0) return { refusals, asked: [] }

  const threads = await findThreads(judging, unknown)
  const answerable: number[] = []
  for (const threadId of threads)
    answerable.push(...(await listAnswerable(tx, { senderId: sender.id, ids: idsOf(unknown), threadId, now })))
  const strangers: Agent[] = []
  const reserved: Agent[] = []
  for (const agent of unknown) {
    if (answerable.includes(agent.id)) continue
    if (links.get(agent.id)?.standing === 'denied') refusals.set(agent.id, declined(agent, sender))
    else (policies.get(agent.id) === 'auto' ? strangers : reserved).push(agent)
  }
  const { found, recent } = await findGrounds(hub, { tx, sender, recipients: strangers, threads })
  // Recent contact is stored as contact: the next message finds it with one look.
  if (judging.handshake && recent.length > 0)
    await approveContacts(tx, {
      fromId: sender.id,
      toIds: recent,
      now,
      expiresAt: endAfter(now, hub.rules.contacts.autoMs),
    })
  const groundless = strangers.filter(({ id }) => !found.has(id))
  const abroad = groundless.filter((agent) => isAbroad(agent, sender))
  const unsettled = {
    groundless: groundless.filter((agent) => !isAbroad(agent, sender)),
    reserved: [...reserved, ...abroad],
    links,
    refusals,
  }
  return { refusals, asked: await shakeHands(hub, judging, unsettled) }
}

async function findThreads(
  { tx, sender, threadId, threadKey: key }: Judging,
  recipients: readonly Agent[],
): Promise<number[]> {
  const own = threadId === undefined ? [] : [threadId]
  const elsewhere = recipients.filter((agent) => isAbroad(agent, sender)).map(({ projectId }) => projectId)
  if (key === undefined || elsewhere.length === 0) return own
  return [...own, ...(await listThreadsOf(tx, { key, projectIds: [...new Set(elsewhere)] }))]
}

/** Automatic contact stops at the border of a project (mail.contact.border). */
const isAbroad = (agent: Agent, sender: Agent): boolean => agent.projectId !== sender.projectId

interface Unsettled {
  /** Recipients of this project with the policy `auto`, and no ground to let the message through. */
  readonly groundless: readonly Agent[]
  /** Recipients that take mail from contacts only: by their policy, or from this project. */
  readonly reserved: readonly Agent[]
  readonly links: ReadonlyMap<number, Link>
  readonly refusals: Map<number, Refusal>
}

/** Returns those who are due a message about the request that was filed with them. */
async function shakeHands(
  hub: Hub,
  { tx, note, sender, handshake }: Judging,
  { groundless, reserved, links, refusals }: Unsettled,
): Promise<Agent[]> {
  const { autoMs, retry } = hub.rules.contacts
  const now = hub.clock.now()
  if (!handshake) {
    for (const agent of groundless) refusals.set(agent.id, contactFirst(agent))
    for (const agent of reserved)
      refusals.set(
        agent.id,
        onlyContacts(agent, { waiting: isWaiting(links.get(agent.id)), abroad: isAbroad(agent, sender) }),
      )
    return []
  }
  if (groundless.length > 0) {
    const handshakes = { fromId: sender.id, toIds: idsOf(groundless), now, expiresAt: endAfter(now, autoMs) }
    const made = await approveContacts(tx, handshakes)
    for (const agent of groundless) {
      const contactId = made.get(agent.id)
      if (contactId === undefined) refusals.set(agent.id, declined(agent, sender))
      else {
        note({ kind: 'contact.approved', projectId: agent.projectId, agentId: agent.id, contactId })
        if (!retry) refusals.set(agent.id, contactMade(agent))
      }
    }
  }
  const told: Agent[] = []
  if (reserved.length > 0) {
    const handshakes = { fromId: sender.id, toIds: idsOf(reserved), now, expiresAt: endAfter(now, usualTtlMs) }
    const filed = await fileContacts(tx, handshakes)
    for (const agent of reserved) {
      refusals.set(agent.id, requestFiled(agent, isAbroad(agent, sender)))
      const contactId = filed.get(agent.id)
      if (contactId === undefined) continue
      const wakes = [contactChannel(agent.id)]
      note({ kind: 'contact.requested', projectId: agent.projectId, agentId: agent.id, contactId, wakes })
      if (isNews(links.get(agent.id)?.row, now)) told.push(agent)
    }
  }
  return told
}

const isWaiting = (link: Link | undefined): boolean => link?.standing === 'pending'

/** An automatic contact lasts as long as it is used. */
async function keepAlive(
  hub: Hub,
  { tx, sender, handshake, recipients }: Judging,
  links: ReadonlyMap<number, Link>,
): Promise<void> {
  if (!handshake) return
  const { autoMs } = hub.rules.contacts
  const now = hub.clock.now()
  const ending = recipients.flatMap(({ agent, row }) => {
    const link = links.get(agent.id)
    if (link?.standing !== 'approved' || link.row.origin === 'asked' || row.contact_policy !== 'auto') return []
    if (isAbroad(agent, sender)) return []
    return endOf(link) < renewedBefore(now, autoMs) ? [link.row.id] : []
  })
  if (ending.length > 0) await extendContacts(tx, ending, now + autoMs)
}

/** The one approved contact of this name in another project. */
export async function findContactElsewhere(hub: Hub, agent: Agent, name: string): Promise<Agent | undefined> {
  const { id: agentId, projectId } = agent
  const rows = await listContactsElsewhere(reader(hub), {
    agentId,
    projectId,
    nameKey: nameKey(name),
    now: hub.clock.now(),
  })
  const [row, ...others] = rows
  if (row === undefined) return undefined
  if (others.length === 0) return { id: row.id, projectId: row.project_id, name: row.name }
  throw new HubError('INVALID_ARGUMENT', `You have several contacts called ${row.name}.`, {
    hint: `Nothing was sent. Say which one: ${rows.map(({ name, slug }) => `${name}@${slug}`).join(', ')}.`,
  })
}

const idsOf = (agents: readonly Agent[]): number[] => agents.map(({ id }) => id)
