/** Messages from people: sent as HumanOverseer with a preamble, past every contact policy, to agents of one project or of several. */
import { HubError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import { overseer } from '../../base/names.ts'
import { withPreamble } from '../../base/preamble.ts'
import { bodyFault, clientIdFault, cut, firstLine, textFault } from '../../base/text.ts'
import { listAddressees } from '../../store/pages/projects.ts'
import { listThreadsNamed } from '../../store/pages/threads.ts'
import type { Caller } from '../access/callers.ts'
import { homeOf, needPerson, personOf } from '../access/rules.ts'
import { findActor } from '../agents/acting.ts'
import { type Agent, type ContactPolicy, needAgent, needHome } from '../agents/agents.ts'
import { isUnseen } from '../agents/seen.ts'
import { type Hub, reader } from '../hub/hub.ts'
import type { Recipient } from '../messages/recipients.ts'
import { dispatch } from '../messages/send.ts'
import { needProject, type Project, slugOfProject } from '../projects/projects.ts'
import { listGroup } from './overseer-groups.ts'
import type { Who } from './page-message.ts'

interface Composed {
  /** `Name` of the project, or `Name@slug`. */
  readonly recipients: readonly string[]
  /** The project of plain names; left out, the only one that has an agent of that name. */
  readonly project?: string | undefined
  /** Left out: the first line of the text. */
  readonly subject?: string | undefined
  readonly body: string
  readonly thread?: string | undefined
}

interface OverseerSent {
  /** The thread_id that all of them have; undefined for one message that begins a thread of its own. */
  readonly thread: string | undefined
  readonly sent: readonly {
    readonly project: string
    readonly messageId: number
    readonly recipients: readonly Who[]
  }[]
  readonly blocked: readonly { readonly recipient: string; readonly message: string }[]
  /** Names that nobody has answered to yet, perhaps mistyped once: the names that are near. */
  readonly unseen: readonly { readonly name: string; readonly near: readonly string[] }[]
}

/** One message in each project. Everything is checked before the first is sent. */
export async function sendAsOverseer(hub: Hub, caller: Caller, composed: Composed): Promise<OverseerSent> {
  needPerson(caller)
  const { subject, body, thread: given } = checked(composed)
  const homes = await addressees(hub, caller, composed)
  const thread = given ?? (homes.size > 1 ? `overseer-${hub.ids.short()}` : undefined)
  const replies = new Map<number, number>()
  for (const { project } of homes.values()) {
    const newest = thread === undefined ? undefined : await findNewest(hub, project, thread)
    if (newest !== undefined) replies.set(project.id, newest)
  }
  const sent = []
  const blocked: { recipient: string; message: string }[] = []
  const unseen: OverseerSent['unseen'][number][] = []
  for (const { project, agents } of homes.values()) {
    const draft = { subject, body: withPreamble(body), thread, replyTo: replies.get(project.id) }
    const outcome = await write(hub, caller, { project, agents, draft })
    if (outcome instanceof HubError)
      blocked.push(...agents.map(({ name }) => ({ recipient: `${name}@${project.slug}`, message: outcome.message })))
    else {
      sent.push(outcome.sent)
      blocked.push(...outcome.blocked)
      unseen.push(...outcome.unseen)
    }
  }
  if (sent.length === 0) throw bad('bad_recipients', blocked.map(({ message }) => message).join(' '))
  return { thread, sent, blocked, unseen }
}

interface Writing {
  readonly project: Project
  readonly agents: readonly Agent[]
  readonly draft: {
    readonly subject: string
    readonly body: string
    readonly thread?: string | undefined
    readonly replyTo?: number | undefined
  }
}

/** As the people of one project. A refusal, such as a full mailbox, is returned. */
export async function write(hub: Hub, caller: Caller, { project, agents, draft }: Writing) {
  const sender = await findActor(hub, { caller, project: project.slug, name: overseer, unnoticed: true })
  const recipients: Recipient[] = []
  for (const agent of agents)
    recipients.push({ agent, kind: 'to', ...((await isUnseen(hub, agent)) && { unseen: true }) })
  try {
    const { replyTo, thread, ...rest } = draft
    const place = replyTo === undefined ? { thread } : { replyTo }
    const { messageId, deliveries, blocked } = await dispatch(hub, caller, {
      sender,
      recipients,
      draft: { ...rest, ...place, importance: 'high', author: personOf(caller) },
    })
    return {
      sent: {
        project: project.slug,
        messageId,
        recipients: deliveries.map(({ agent, project }) => ({ name: agent.name, project })),
      },
      unseen: deliveries.flatMap(({ agent: { name }, unseen, near = [] }) => (unseen ? [{ name, near }] : [])),
      blocked: blocked.map(({ recipient, project, message }) => ({
        recipient: `${recipient.agent.name}@${project}`,
        message,
      })),
    }
  } catch (error) {
    if (error instanceof HubError && error.kind !== 'internal' && error.kind !== 'busy') return error
    throw error
  }
}

/** The newest message of the thread of this name in the project; a topic is answered where it is. */
async function findNewest(hub: Hub, { id, slug }: Project, thread: string): Promise<number | undefined> {
  const row = (await listThreadsNamed(reader(hub), id, thread)).find(({ project_id }) => project_id === id)
  if (row !== undefined && row.name !== null)
    throw bad('bad_thread', `${JSON.stringify(thread)} is a topic of ${slug}: answer on its own page.`)
  return row?.last_id ?? undefined
}

type Fault = 'bad_body' | 'bad_recipients' | 'bad_subject' | 'bad_thread'

const bad = (reason: Fault, message: string, next = ''): HubError =>
  new HubError('INVALID_ARGUMENT', message, { reason, hint: `Nothing was sent. ${next}`.trimEnd() })

/** The body of an answer or of a new message, with room for the preamble. */
export function checkedBody(body: string): string {
  if (body.trim() === '') throw bad('bad_body', 'The message needs a text.')
  const fault = bodyFault(withPreamble(body))
  if (fault !== undefined) throw bad('bad_body', `The text ${fault}.`)
  return body
}

/** A subject that nobody typed is as long as a line of a list shows. */
const impliedLength = 80

function checked({ subject: title, body, thread: key }: Composed) {
  if (title === undefined) checkedBody(body)
  const subject = (title ?? cut(firstLine(body.trim()), impliedLength)).trim()
  if (subject === '') throw bad('bad_subject', 'The message needs a subject.')
  if ([...subject].length > limits.titleLength)
    throw bad('bad_subject', `The subject must have at most ${limits.titleLength} characters.`)
  const fault = textFault(subject) ?? (/[\r\n]/.test(subject) ? 'must be one line' : undefined)
  if (fault !== undefined) throw bad('bad_subject', `The subject ${fault}.`)
  checkedBody(body)
  const thread = key?.trim() || undefined
  const wrong = thread === undefined ? undefined : clientIdFault(thread)
  if (wrong !== undefined) throw bad('bad_thread', `The thread ${wrong}.`)
  return { subject, body, thread }
}

interface Home {
  readonly project: Project
  readonly agents: Agent[]
}

/** All of them, by project. */
async function addressees(
  hub: Hub,
  caller: Caller,
  { recipients, project }: Composed,
): Promise<ReadonlyMap<number, Home>> {
  const homes = new Map<number, Home>()
  if (recipients.length === 0) throw bad('bad_recipients', 'Choose at least one agent.')
  const named: string[] = []
  for (const called of recipients) named.push(...((await listGroup(hub, caller, called, { project })) ?? [called]))
  if (named.length === 0) throw bad('bad_recipients', 'Nobody is in this group now.')
  for (const called of new Set(named)) {
    const { home, agent } = await addressee(hub, caller, { called, project })
    const known = homes.get(home.id) ?? { project: home, agents: [] }
    if (!known.agents.some(({ id }) => id === agent.id)) known.agents.push(agent)
    homes.set(home.id, known)
  }
  return homes
}

async function addressee(
  hub: Hub,
  caller: Caller,
  { called, project }: { called: string; project: string | undefined },
): Promise<{ home: Project; agent: Agent }> {
  const at = called.lastIndexOf('@')
  const name = at > 0 ? called.slice(0, at) : called
  try {
    const place = at > 0 ? called.slice(at + 1) : (project ?? (await needHome(hub, caller, name)))
    const home = await needProject(hub, caller, place)
    return { home, agent: await needAgent(hub, caller, home.slug, name) }
  } catch (error) {
    if (!(error instanceof HubError) || error.kind === 'internal' || error.kind === 'busy') throw error
    throw bad('bad_recipients', error.message, error.hint)
  }
}

interface Addressable {
  readonly project: string
  readonly agents: readonly {
    readonly name: string
    readonly task: string
    readonly activeAt: number
    readonly contactPolicy: ContactPolicy
  }[]
}

const mostAddressable = 5000

/** Everybody whom people can write to, by project. */
export async function listAddressable(hub: Hub, caller: Caller, project?: string): Promise<Addressable[]> {
  const only = project === undefined ? undefined : (await needProject(hub, caller, project)).id
  const projectId = only ?? homeOf(caller)
  const rows = await listAddressees(reader(hub), { projectId, limit: mostAddressable })
  const listed: Addressable[] = []
  for (const [id, agents] of Map.groupBy(rows, ({ project_id }) => project_id))
    listed.push({
      project: await slugOfProject(hub, id),
      agents: agents.map(({ name, task, active_at, contact_policy }) => ({
        name,
        task,
        activeAt: active_at,
        contactPolicy: contact_policy,
      })),
    })
  return listed
}
