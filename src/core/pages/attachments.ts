/** The attachments of a project: messages that have some, and the bytes of a file. */
import { HubError } from '../../base/errors.ts'
import { hasKeys } from '../../store/agents/agents.ts'
import { type FileRow, findFile, findPart, listCarriers } from '../../store/messages/attachments.ts'
import { listMailIds } from '../../store/pages/message-lists.ts'
import type { Caller } from '../access/callers.ts'
import { pageSight } from '../access/rules.ts'
import { type Hub, longReader, reader } from '../hub/hub.ts'
import { needProject } from '../projects/projects.ts'
import { listPageMessages, type Page, type PageMessage, pageOf } from './page-message.ts'

/** Newest first. */
export async function listAttached(
  hub: Hub,
  caller: Caller,
  project: string,
  { before, limit }: { before?: number | undefined; limit: number },
): Promise<Page<PageMessage>> {
  const { id: projectId } = await needProject(hub, caller, project)
  const sight = pageSight(caller)
  const filter = { projectId, attached: true, below: before, limit: limit + 1 }
  const { items, next } = pageOf(await listMailIds(reader(hub), sight, filter), limit, (id) => id)
  return { items: await listPageMessages(hub, sight, items), next }
}

interface AttachedFile {
  readonly mediaType: string
  readonly bytes: number
  readonly sha256: string
  readonly parts: AsyncIterable<Uint8Array>
}

/** So many messages with a file are looked at for one that the caller may read. */
const mostCarriers = 100

/**
 * A file by its path in the archive of a project, if it is of a message that the caller may read whole. Its name is the hash
 * of its content: whoever guesses it learns nothing.
 */
export async function readAttachment(hub: Hub, caller: Caller, project: string, path: string): Promise<AttachedFile> {
  const home = await needProject(hub, caller, project)
  const { of } = pageSight(caller)
  // Most often nobody holds a key, and nothing is hidden from people.
  const free = of === 'everybody' || (of === 'keyless' && !(await hasKeys(reader(hub))))
  const own = free ? await findFile(reader(hub), home.id, path) : undefined
  if (own !== undefined) return toFile(hub, own)
  for (const { id, sender_project } of await listCarriers(longReader(hub), {
    projectId: home.id,
    path,
    limit: mostCarriers,
  })) {
    const [message] = await listPageMessages(hub, pageSight(caller), [id])
    if (message === undefined || message.sealed) continue
    const file = await findFile(reader(hub), sender_project, path)
    if (file !== undefined) return toFile(hub, file)
  }
  throw new HubError('NOT_FOUND', `The project ${home.slug} has no attachment ${JSON.stringify(path.slice(0, 200))}.`)
}

const toFile = (hub: Hub, { media_type, size, sha256, content }: FileRow): AttachedFile => ({
  mediaType: media_type,
  bytes: size,
  sha256,
  parts: partsOf(hub, content),
})

async function* partsOf(hub: Hub, content: string): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; position++) {
    const part = await findPart(reader(hub), content, position)
    if (part === undefined) return
    yield part
  }
}
