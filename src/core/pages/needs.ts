/** The list of what needs a person: answers, questions, requests, conflicts, overdue acknowledgements, stuck agents, loops, dead letters. */
import { listPendingContacts } from '../../store/contacts/contacts.ts'
import { listDead } from '../../store/mail/endings.ts'
import { listAnswerIds, listOpenQuestions } from '../../store/pages/board.ts'
import type { Caller } from '../access/callers.ts'
import { agentOf, homeOf, mayRoam, pageSight } from '../access/rules.ts'
import { type Contact, toContact } from '../contacts/links.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { fromNamed, type Lease } from '../leases/leases.ts'
import { needProject, type Project } from '../projects/projects.ts'
import { type Board, type BoardAgent, givenUpMs, readBoard } from './board.ts'
import { type DeadLetter, lettersOf } from './dead-letters.ts'
import { keep } from './kept.ts'
import { type Loop, listLoops } from './loops.ts'
import { listPageMessages, type PageMessage, slugsOf } from './page-message.ts'
import { listAnswers } from './person-answers.ts'

/** Two leases in each other's way, with the project of both. */
export interface Conflict {
  readonly project: string
  readonly holder: Lease
  readonly other: Lease
  readonly holderSeenAt: number
  readonly stuck: boolean
}

/** An agent that owes acknowledgements. */
interface Debt {
  readonly agent: BoardAgent
  readonly count: number
  /** Whether it may owe more than these. */
  readonly more: boolean
  readonly since: number
  /** The oldest of the messages. */
  readonly messageIds: readonly number[]
}

export interface Debtor extends Debt {
  /** The same, as far as they are in sight. */
  readonly messages: readonly PageMessage[]
}

/** There may be hundreds of overdue messages: whoever counts the lines, or tells them in a sentence, reads none. */
export interface NeedLines {
  /** Unread mail to people, the newest first. */
  readonly answers: readonly PageMessage[]
  /** Questions in topics that nobody has answered for a while. */
  readonly questions: readonly PageMessage[]
  readonly contacts: readonly Contact[]
  readonly conflicts: readonly Conflict[]
  readonly debtors: readonly Debt[]
  /** The stuck ones that no other line tells of. */
  readonly stuck: readonly BoardAgent[]
  /** Agents that only answered each other: they are not woken until somebody resumes it. */
  readonly loops: readonly Loop[]
  readonly dead: readonly DeadLetter[]
  /** The lines of the list. */
  readonly count: number
  /** Whether there may be more: a list was not read to its end. */
  readonly more: boolean
}

export type Needs = Omit<NeedLines, 'debtors'> & { readonly debtors: readonly Debtor[] }

const most = { answers: 20, questions: 20, contacts: 50, conflicts: 50, messages: 3, dead: 20 } as const

interface NeedsWish {
  readonly project?: string | undefined
  /** The mark of the end of the feed, where a list that was read at it may be shown. */
  readonly mark?: string | undefined
}

export async function readNeedLines(hub: Hub, caller: Caller, { project, mark }: NeedsWish = {}): Promise<NeedLines> {
  const home = project === undefined ? undefined : await needProject(hub, caller, project)
  return keep(hub, caller, { name: `needs ${home?.id ?? ''}`, mark }, async () =>
    linesOf(hub, caller, home, await readBoard(hub, caller, { project, mark })),
  )
}

/** With the overdue messages of the first debtors, so many of them. */
export async function readNeeds(
  hub: Hub,
  caller: Caller,
  { mostDebtors = Number.POSITIVE_INFINITY, ...wish }: NeedsWish & { readonly mostDebtors?: number } = {},
): Promise<Needs> {
  const { debtors, ...lines } = await readNeedLines(hub, caller, wish)
  const name = `debtors ${wish.project ?? ''} ${mostDebtors}`
  return keep(hub, caller, { name, mark: wish.mark }, async () => {
    const ids = debtors.slice(0, mostDebtors).flatMap(({ messageIds }) => messageIds)
    const shown = await listPageMessages(hub, pageSight(caller), [...new Set(ids)])
    const messages = new Map(shown.map((one) => [one.id, one]))
    return {
      ...lines,
      debtors: debtors.map((debt) => ({ ...debt, messages: debt.messageIds.flatMap((id) => messages.get(id) ?? []) })),
    }
  })
}

async function linesOf(
  hub: Hub,
  caller: Caller,
  home: Project | undefined,
  { byId, conflicts, owed, moreOwed }: Board,
): Promise<NeedLines> {
  const db = reader(hub)
  const [sight, now] = [pageSight(caller), hub.clock.now()]
  const boxes = (await listAnswers(hub, caller)).map(({ agentId }) => agentId)
  const answerIds = await listAnswerIds(db, boxes, most.answers)
  const questionIds = await openQuestions(hub, home?.id ?? homeOf(caller))
  const told = await listPageMessages(hub, sight, [...answerIds, ...questionIds])
  const whose = { projectId: homeOf(caller), agentId: agentOf(caller)?.agentId }
  const asked = await listPendingContacts(db, { ...whose, limit: most.contacts })
  const debts = Map.groupBy(owed, ({ recipient_id }) => recipient_id)
  const slugs = await slugsOf(
    hub,
    conflicts.map(({ holder }) => holder.project_id),
  )
  const debtors = [...debts].flatMap(([id, rows]): Debt[] => {
    const agent = byId.get(id)
    if (agent === undefined) return []
    const messageIds = rows.slice(0, most.messages).map(({ message_id }) => message_id)
    return [{ agent, count: rows.length, more: moreOwed, since: rows[0]?.sent_at ?? now, messageIds }]
  })
  const pairs = conflicts.slice(0, most.conflicts).map(({ holder, other }): Conflict => {
    const agent = byId.get(holder.agent_id)
    return {
      project: slugs.get(holder.project_id) ?? '',
      holder: fromNamed(holder),
      other: fromNamed(other),
      holderSeenAt: agent?.seenAt ?? 0,
      stuck: agent?.state === 'stuck',
    }
  })
  // A holder that is stuck comes first.
  pairs.sort((a, b) => Number(b.stuck) - Number(a.stuck))
  const named = new Set([...conflicts.map(({ holder }) => holder.agent_id), ...debts.keys()])
  const stuck = [...byId.values()].filter(({ id, state }) => state === 'stuck' && !named.has(id))
  const contacts = asked.map((row) => toContact(row, now)).filter(({ status }) => status === 'pending')
  const answers = told.filter(({ id }) => answerIds.includes(id))
  const questions = told.filter(({ id }) => questionIds.includes(id))
  const here = <One extends { readonly project: string }>(all: readonly One[]): readonly One[] =>
    home === undefined ? all : all.filter((one) => one.project === home.slug)
  const loops = here(await listLoops(hub, caller))
  const letters = mayRoam(caller) ? await lettersOf(hub, sight, await listDead(db, { limit: most.dead })) : []
  const dead = letters.filter(({ recipient }) => home === undefined || recipient.project === home.slug)
  const lists = { answers, questions, contacts, conflicts: pairs, debtors, stuck, loops, dead }
  const more =
    moreOwed ||
    answerIds.length === most.answers ||
    questionIds.length === most.questions ||
    asked.length === most.contacts ||
    conflicts.length > most.conflicts ||
    letters.length === most.dead
  return { ...lists, count: Object.values(lists).reduce((sum, lines) => sum + lines.length, 0), more }
}

/** Peers answer each other within minutes; after a week nobody waits for the answer any more. */
function openQuestions(hub: Hub, projectId: number | undefined): Promise<number[]> {
  const now = hub.clock.now()
  const sent = { after: now - givenUpMs, before: now - hub.rules.stuckMs }
  return listOpenQuestions(reader(hub), { projectId, sent, limit: most.questions })
}
