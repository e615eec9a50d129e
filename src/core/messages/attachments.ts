/** Attachments of a message: read and converted before anything is stored, stored in the transaction of the send. */

import { declaredType, isDataUri } from '../../attachments/data-uri.ts'
import { extensionOf, kindOfExtension, kindOfMediaType } from '../../attachments/kinds.ts'
import { type ImagePlace, listImages, replaceImages } from '../../attachments/markdown.ts'
import { HubError } from '../../base/errors.ts'
import { limits, sizeInWords } from '../../base/limits.ts'
import { bodyFault } from '../../base/text.ts'
import type { Tx } from '../../db/port.ts'
import {
  type AttachmentRow,
  deleteStaged,
  findAttachmentsPolicy,
  findFileToCarry,
  insertFile,
  raiseAttachmentBytes,
} from '../../store/messages/attachments.ts'
import type { Caller } from '../access/callers.ts'
import { mayReadFiles } from '../access/rules.ts'
import type { Acting } from '../agents/acting.ts'
import type { Agent } from '../agents/agents.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { needProject } from '../projects/projects.ts'
import { findReal } from '../projects/real-folders.ts'
import { type Content, type Desk, type Made, makeContent, openDesk, readSource } from './contents.ts'
import type { Staged, StagedFile, Staging } from './staging.ts'

/** The attachments that a sender asks for. */
export interface Enclosing {
  /** Paths of files in the folder of the project, and data URIs. */
  readonly paths?: readonly string[] | undefined
  /** Whether images become WebP, those of the Markdown too, or are stored as they are; the hub's rule, if left out. */
  readonly convert?: boolean | undefined
}

/** An attachment as its readers see it. The content of an inline one may be left out. */
export type Attachment = Carried | { readonly kind: 'link'; readonly uri: string }

/** One whose content the hub holds. */
type Carried = { readonly mediaType: string; readonly original?: string | undefined } & (
  | {
      readonly kind: 'inline'
      readonly dataUri: string | undefined
      /** Absent for an image of long ago whose content is left out. */
      readonly sha1?: string | undefined
      /** Whether it stands in the body of its message. */
      readonly inBody?: boolean | undefined
    }
  | { readonly kind: 'file'; readonly path: string; readonly bytes: number; readonly sha1: string }
)

export const linksOf = (uris: readonly string[] = []): Attachment[] => uris.map((uri) => ({ kind: 'link', uri }))

interface EnclosedFile extends StagedFile {
  readonly sha256: string
  readonly mediaType: string
}

/** The content of a message, ready to be stored. */
export interface Enclosed {
  readonly projectId: number
  readonly body: string
  readonly attachments: readonly Attachment[]
  readonly files: readonly EnclosedFile[]
}

interface Drafted {
  readonly enclosing?: Enclosing | undefined
  readonly sender: Agent
  readonly body: string
  readonly clientId?: string | undefined
}

interface Wanted extends Enclosing {
  /** The slug or key of the sender's project: its folder is where files are read. */
  readonly project: string
  readonly sender: Agent
  readonly body: string
}

/** A retry is answered though its file may be gone: with a client id, a fault counts only once no message is found. */
export async function enclosedOrFault(
  hub: Hub,
  { caller, project }: Acting,
  { enclosing, sender, body, clientId }: Drafted,
): Promise<Enclosed | HubError | undefined> {
  if (enclosing === undefined) return undefined
  try {
    return await enclose(hub, caller, { ...enclosing, project, sender, body })
  } catch (error) {
    if (clientId !== undefined && error instanceof HubError) return error
    throw error
  }
}

/** Everything is checked and converted here: what fails, fails before anything is stored (mail.attach.refused). */
async function enclose(hub: Hub, caller: Caller, wanted: Wanted): Promise<Enclosed> {
  const { body, paths = [], sender, convert = hub.rules.attachments.convert } = wanted
  const images = listImages(body).filter(({ address }) => isImage(address))
  if (images.length === 0 && paths.length === 0)
    return checked({ projectId: sender.projectId, body, attachments: [], files: [] })
  if (!mayReadFiles(caller) && !paths.every(isDataUri)) throw noFiles()
  const desk = await openDesk(hub, await folderOf(hub, caller, wanted.project))
  const readable = mayReadFiles(caller) && typeof desk.ground !== 'string'
  // Where no files are read, nothing is told of them: their images stay as written.
  const given = images.filter(({ address }) => readable || isDataUri(address))
  const addresses = [...new Set([...given.map(({ address }) => address), ...paths])]
  if (addresses.length > limits.attachments) throw tooMany(addresses.length)
  const made = await makeAll(desk, { addresses, needed: new Set(paths), convert })
  const policy = [...made.values()].some(({ image }) => image)
    ? await findAttachmentsPolicy(reader(hub), sender.id)
    : 'file'
  return place(hub, { projectId: sender.projectId, body, images: given, made, policy: policy ?? 'auto' })
}

/** The folder of the project; of a git worktree that the call names, the worktree: it has files that the main checkout lacks. */
async function folderOf(hub: Hub, caller: Caller, project: string): Promise<string> {
  const { key } = await needProject(hub, caller, project)
  return (await findReal(hub, caller, project))?.worktree ? project : key
}

/** Only what is called an image is one: other addresses in the Markdown stay as written. */
function isImage(address: string): boolean {
  if (isDataUri(address)) return (kindOfMediaType(declaredType(address) ?? '') ?? 'other') !== 'other'
  if (/^(?:[a-z][a-z\d+.-]*:|\/\/|#)/i.test(address)) return false
  return (kindOfExtension(extensionOf(address)) ?? 'other') !== 'other'
}

interface Making {
  readonly addresses: readonly string[]
  /** The addresses that must exist. */
  readonly needed: ReadonlySet<string>
  readonly convert: boolean
}

/** One after the other: several large images at once would fill the memory. */
async function makeAll(desk: Desk, { addresses, needed, convert }: Making): Promise<Map<string, Made>> {
  const made = new Map<string, Made>()
  let total = 0
  for (const address of addresses) {
    const source = await readSource(desk, address, needed.has(address))
    if (source === undefined) continue
    const one = await makeContent(desk, source, convert)
    total += one.content.bytes.length + (one.original?.bytes.length ?? 0)
    if (total > limits.attachmentBytes)
      throw new HubError('INVALID_ARGUMENT', `The attachments have more than ${sizeInWords(limits.attachmentBytes)}.`, {
        hint: 'Nothing was sent. Spread them over several messages.',
      })
    made.set(address, one)
  }
  return made
}

interface Placing {
  readonly projectId: number
  readonly body: string
  readonly images: readonly ImagePlace[]
  readonly made: ReadonlyMap<string, Made>
  readonly policy: 'auto' | 'inline' | 'file'
}

/** Decides which images stand in the message itself: small ones, as long as the body and the list have room for them. */
function place(hub: Hub, { projectId, body, images, made, policy }: Placing): Enclosed {
  const { inlineBytes } = hub.rules.attachments
  const least = { auto: inlineBytes, inline: Math.max(inlineBytes, limits.inlineImageBytes + 1), file: 0 }[policy]
  const uses = Map.groupBy(
    images.filter(({ address }) => made.has(address)),
    ({ address }) => address,
  )
  const replaced = [...uses.values()].flat()
  let length =
    Buffer.byteLength(body) -
    replaced.reduce((sum, { start, end }) => sum + Buffer.byteLength(body.slice(start, end)), 0)
  let listed = 0
  const files = new Map<string, EnclosedFile>()
  const attachments = new Map<string, Attachment>()
  const references = new Map<string, string>()
  for (const [address, { content, image, original }] of made) {
    const count = uses.get(address)?.length ?? 0
    const dataUri = image && content.bytes.length < least ? content.dataUri() : undefined
    const fits =
      dataUri !== undefined &&
      listed + dataUri.length <= limits.inlineLength &&
      length + count * dataUri.length <= limits.bodyBytes
    const reference = fits ? dataUri : content.path
    length += count * reference.length
    if (fits) listed += dataUri.length
    else files.set(content.path, fileOf(content))
    if (original !== undefined) files.set(original.path, fileOf(original))
    references.set(address, reference)
    const { mediaType, path, sha1, bytes } = content
    const kept = { mediaType, ...(original && { original: original.path }) }
    // The same picture may come by several addresses.
    const before = attachments.get(reference)
    const inBody = count > 0 || (before?.kind === 'inline' && before.inBody === true)
    attachments.set(
      reference,
      fits
        ? { kind: 'inline', ...kept, dataUri, sha1, inBody }
        : { kind: 'file', ...kept, path, bytes: bytes.length, sha1 },
    )
  }
  const places = images.flatMap((image) => {
    const by = references.get(image.address)
    return by === undefined ? [] : [{ ...image, by }]
  })
  return checked({
    projectId,
    body: replaceImages(body, places),
    attachments: [...attachments.values()],
    files: [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1)),
  })
}

const fileOf = ({ path, sha256, mediaType, bytes }: Content): EnclosedFile => ({ path, sha256, mediaType, bytes })

/** The limit counts what is stored: a data URI that became a file is no part of it (mail.attach.body). */
function checked(enclosed: Enclosed): Enclosed {
  const fault = bodyFault(enclosed.body)
  if (fault === undefined) return enclosed
  throw new HubError('INVALID_ARGUMENT', `The body ${fault}.`, {
    hint: 'Nothing was sent. Shorten it, or send the long part as an attachment.',
  })
}

/** The files to write before the send. */
export const filesOf = (enclosed: Enclosed | HubError | undefined): Staging =>
  enclosed === undefined || enclosed instanceof HubError ? { projectId: 0, files: [] } : enclosed

/** As `messages.attachments` keeps them; nothing for a message without. */
export const listOf = (attachments: readonly Attachment[]): string | undefined =>
  attachments.length === 0 ? undefined : JSON.stringify(attachments.map(toRow))

function toRow(attachment: Attachment): AttachmentRow {
  if (attachment.kind === 'link') return { type: 'link', uri: attachment.uri }
  const { mediaType, original, ...rest } = attachment
  const kept = { media_type: mediaType, ...(original !== undefined && { original_path: original }) }
  if (rest.kind === 'inline')
    return { type: 'inline', ...kept, ...(rest.sha1 && { sha1: rest.sha1 }), ...(rest.inBody && { in_body: true }) }
  const { path, bytes, sha1 } = rest
  return { type: 'file', ...kept, path, bytes, sha1 }
}

interface Storing {
  readonly tx: Tx
  readonly enclosed: Enclosed
  readonly staged: Staged
}

/** In the order of their paths: two sends that store the same files wait for each other in one direction only. */
export async function storeFiles(hub: Hub, { tx, enclosed, staged }: Storing): Promise<void> {
  const { projectId, files } = enclosed
  let grown = 0
  for (const { path, sha256, mediaType: media_type, bytes } of files) {
    const content = staged.get(path)
    const file = { path, sha256, media_type, size: bytes.length, content: content ?? '' }
    if (content !== undefined && (await insertFile(tx, { projectId, now: hub.clock.now(), file }))) {
      if (!(await deleteStaged(tx, content)))
        throw new Error('The content of an attachment was deleted before its send.')
      grown += bytes.length
    } else {
      const there = await findFileToCarry(tx, projectId, path)
      if (there === undefined) throw justRemoved(path)
      if (there.sha256 !== sha256) throw collision(path)
    }
  }
  const most = hub.rules.attachments.quotaBytes
  if (grown === 0 || (await raiseAttachmentBytes(tx, { projectId, by: grown, most }))) return
  throw new HubError(
    'QUOTA_EXCEEDED',
    `With these files the project would hold more than ${most} bytes of attachments.`,
    {
      hint: 'Nothing was sent. Write the path of the file in the text; the operator of Parley can raise QUOTA_ATTACHMENTS_LIMIT_BYTES.',
    },
  )
}

const noFiles = (): HubError =>
  new HubError('FORBIDDEN', 'A caller with a key or token cannot attach files of the server.', {
    reason: 'no_files',
    hint: 'Nothing was sent. Give the content itself, as a data URI.',
  })

const tooMany = (count: number): HubError =>
  new HubError('INVALID_ARGUMENT', `A message has at most ${limits.attachments} attachments; this one has ${count}.`, {
    hint: 'Nothing was sent. Spread them over several messages.',
  })

/** SHA-1 can be forged: the second of two files with one hash is not taken for the first. */
const justRemoved = (path: string): HubError =>
  new HubError('DB_BUSY', `The stored file ${path} was moved out with old mail just now.`, {
    hint: 'Nothing was sent. Send the message again: the file is then stored anew.',
  })

const collision = (path: string): HubError =>
  new HubError('INVALID_ARGUMENT', `Another file is stored as ${path}.`, { hint: 'Nothing was sent. Change the file.' })
