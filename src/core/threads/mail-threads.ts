/** Threads of mail and single messages, as far as they are in sight. */
import { HubError } from '../../base/errors.ts'
import { findMail, listThread } from '../../store/mail/mail.ts'
import type { Caller } from '../access/callers.ts'
import { sightOf } from '../access/rules.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { inlineBytes, type MailPage, withBodies } from '../mail/inbox.ts'
import { type MailMessage, mailMessagesOf } from '../mail/messages.ts'
import { needProject, type Project } from '../projects/projects.ts'

interface ThreadWish {
  readonly key: string
  /** Only messages after the one with this id: the last one of the page before. */
  readonly after?: number | undefined
  readonly bodies?: boolean
  readonly limit: number
}

interface ThreadPage extends MailPage {
  readonly project: Project
}

/**
 * The messages of a thread that a project (slug or key) sees, oldest first. The thread goes by its key, its uid (a topic of the bus),
 * or the id of its first message. Threads of several projects with one key are read as one: a ticket is
 * followed across repositories, as far as their messages came here (mail.thread.projects).
 */
export async function readThread(
  hub: Hub,
  caller: Caller,
  project: string,
  { key, after = 0, bodies = false, limit }: ThreadWish,
): Promise<ThreadPage> {
  const home = await needProject(hub, caller, project)
  const query = { sight: sightOf(caller, home.id), key, after, bodies: inlineBytes(bodies, limit), limit: limit + 1 }
  const found = await listThread(reader(hub), query)
  if (found.length === 0 && after === 0) throw noThread(home, key)
  const rows = await withBodies(hub, found.slice(0, limit), bodies)
  const messages = await mailMessagesOf(hub, { rows, home: home.id, bodies })
  return { project: home, messages, more: found.length > limit }
}

/** A message with its body, if it is in sight: a foreign one and a missing one answer alike. */
export async function needMessage(hub: Hub, caller: Caller, project: string, id: number): Promise<MailMessage> {
  const home = await needProject(hub, caller, project)
  const row = await findMail(reader(hub), { id, sight: sightOf(caller, home.id) })
  const [message] = row === undefined ? [] : await mailMessagesOf(hub, { rows: [row], home: home.id, bodies: true })
  if (message !== undefined) return message
  throw new HubError('MESSAGE_NOT_FOUND', `The project ${home.slug} has no message ${id}.`)
}

export const noThread = ({ slug }: Project, key: string): HubError =>
  new HubError('THREAD_NOT_FOUND', `The project ${slug} has no thread ${JSON.stringify(key)}.`)
