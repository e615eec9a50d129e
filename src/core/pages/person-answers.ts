/** Answers of people in a thread or topic, and how many answers to people wait for them. */

import { HubError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import { isReserved, overseer } from '../../base/names.ts'
import { withPreamble } from '../../base/preamble.ts'
import { findAgentById, listUnreadNamed } from '../../store/agents/agents.ts'
import { listParticipants, listThreadsNamed, type ThreadRow } from '../../store/pages/threads.ts'
import { findTopic } from '../../store/threads/threads.ts'
import type { AgentCaller, Caller } from '../access/callers.ts'
import { agentOf, homeOf, mayRoam, needPerson, pageSight, personOf, wholeSight } from '../access/rules.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { reply } from '../messages/reply.ts'
import { needProject, type Project, slugOfProject } from '../projects/projects.ts'
import { noThread } from '../threads/mail-threads.ts'
import { remark } from '../topics/remarks.ts'
import { closeTopic, reopenTopic, topicNotFound, toTopic } from '../topics/topics.ts'
import { readMessage } from './message.ts'
import { checkedBody, write } from './overseer.ts'
import { listWithRows, sealedMail, slugsOf } from './page-message.ts'

interface Answering {
  readonly thread: string
  readonly body: string
  /** The message of the thread that is answered; left out, the newest. */
  readonly to?: number | undefined
}

/** So many of the newest messages say who takes part. */
const newestAsked = 200

/**
 * An overseer message to all who take part openly; in a topic, a word of HumanOverseer. An agent answers the newest message
 * that it sees, as itself.
 */
export async function answerThread(
  hub: Hub,
  caller: Caller,
  project: string,
  { thread, body, to }: Answering,
): Promise<{ readonly messageId: number | undefined }> {
  const me = agentOf(caller)
  if (me === undefined) needPerson(caller)
  const home = await needProject(hub, caller, project)
  const [row] = await listThreadsNamed(reader(hub), home.id, thread)
  if (row === undefined) throw noThread(home, thread)
  checkedBody(body)
  if (me !== undefined) return answerAsItself(hub, me, { home, row, body, thread, to })
  if (row.name !== null) return say(hub, caller, { home, row, body, name: overseer, to })
  const [newest] = await listWithRows(hub, pageSight(caller), [to ?? row.last_id ?? 0])
  if (newest === undefined) throw noThread(home, thread)
  const parts = await listParticipants(reader(hub), [row.id], {
    newest: newestAsked,
    sight: { ...wholeSight, blind: 'none' },
  })
  const agents = parts
    .filter(({ name }) => !isReserved(name))
    .map(({ id, name, project_id: projectId }) => ({ id, name, projectId }))
  const subject = answering(newest.row.subject || sealedMail)
  const outcome = await write(hub, caller, {
    project: home,
    agents,
    draft: { subject, body: withPreamble(body), replyTo: newest.row.id },
  })
  if (outcome instanceof HubError) throw outcome
  return { messageId: outcome.sent.messageId }
}

/** The same for whoever knows the number of a message only: its thread is answered, and it is the one that is answered there. */
export async function answerMessage(
  hub: Hub,
  caller: Caller,
  { messageId, body }: { readonly messageId: number; readonly body: string },
): Promise<{ readonly messageId: number | undefined; readonly project: string; readonly thread: string }> {
  if (agentOf(caller) === undefined) needPerson(caller)
  const { thread = String(messageId), project: place, topic } = await readMessage(hub, caller, messageId)
  const home = homeOf(caller)
  // An agent answers from its own project, also what came to it from another.
  const project = home === undefined ? place : await slugOfProject(hub, home)
  const to = topic === undefined ? messageId : undefined
  const answered = await answerThread(hub, caller, project, { thread, body, to })
  return { ...answered, project, thread }
}

function answering(subject: string): string {
  const line = subject.split('\n', 1)[0] ?? ''
  if (/^re:/i.test(line)) return line
  return [...`Re: ${line}`].slice(0, limits.titleLength).join('').trim()
}

interface Saying {
  readonly home: Project
  readonly row: ThreadRow
  readonly body: string
  readonly name: string
  /** The message of the topic that is answered. */
  readonly to?: number | undefined
}

async function say(hub: Hub, caller: Caller, { home, row, body, name, to }: Saying) {
  const topic = await findTopic(reader(hub), home.id, row.uid)
  if (topic === undefined) throw topicNotFound(row.uid)
  if (body.length > limits.topicBodyLength)
    throw new HubError('INVALID_ARGUMENT', `A message in a topic has at most ${limits.topicBodyLength} characters.`, {
      reason: 'bad_body',
      hint: 'Nothing was sent.',
    })
  const acting = { caller, project: home.slug, name, unnoticed: agentOf(caller) === undefined }
  const [asked] = to === undefined ? [] : await listWithRows(hub, pageSight(caller), [to])
  const answers = asked?.row.thread_id === row.id ? { kind: 'answer', replyToUid: asked.row.uid } : { kind: 'message' }
  await remark(hub, acting, { topic: toTopic(topic), outgoing: { body, author: personOf(caller), ...answers } })
  return { messageId: undefined }
}

async function answerAsItself(
  hub: Hub,
  me: AgentCaller,
  { home, row, body, thread, to }: Omit<Saying, 'name'> & Pick<Answering, 'thread' | 'to'>,
) {
  const self = await findAgentById(reader(hub), me.agentId)
  const acting = { caller: me, project: home.slug, name: self?.name ?? '', registered: true }
  if (row.name !== null) return say(hub, me, { home, row, body, name: acting.name })
  const [newest] = await listWithRows(
    hub,
    pageSight(me),
    to === undefined ? [row.last_id ?? 0, row.first_id ?? 0] : [to],
  )
  if (newest === undefined) throw noThread(home, thread)
  return { messageId: (await reply(hub, acting, { messageId: newest.row.id, body })).messageId }
}

/** Closes a topic, or opens it again. */
export async function setTopicStatus(
  hub: Hub,
  caller: Caller,
  project: string,
  { thread, status }: { readonly thread: string; readonly status: 'open' | 'closed' },
): Promise<void> {
  needPerson(caller)
  const home = await needProject(hub, caller, project)
  const row = (await listThreadsNamed(reader(hub), home.id, thread)).find(({ name }) => name !== null)
  if (row === undefined) throw topicNotFound(JSON.stringify(thread))
  if (status === 'open') await reopenTopic(hub, caller, project, row.uid)
  else await closeTopic(hub, caller, project, { uid: row.uid, reason: 'Closed by a person.' })
}

export interface Answers {
  readonly agentId: number
  /** The slug of a project. */
  readonly project: string
  readonly unread: number
}

/** Unread mail to people, by project: told in the header until it is marked read. */
export async function listAnswers(hub: Hub, caller: Caller): Promise<Answers[]> {
  if (!mayRoam(caller)) return []
  const rows = await listUnreadNamed(reader(hub), overseer.toLowerCase())
  const slugs = await slugsOf(
    hub,
    rows.map(({ project_id }) => project_id),
  )
  return rows.map(({ id, project_id, unread }) => ({
    agentId: id,
    project: slugs.get(project_id) ?? '',
    unread: Number(unread),
  }))
}
