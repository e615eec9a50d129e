/** The files and images of exported messages: read for an export; checked as if they were sent, then stored, by an import. */
import { createHash } from 'node:crypto'
import { parseDataUri } from '../../attachments/data-uri.ts'
import { HubError } from '../../base/errors.ts'
import { limits, sizeInWords } from '../../base/limits.ts'
import type { Reader, Tx } from '../../db/port.ts'
import { findFile, findPart, insertFile, insertPart, raiseAttachmentBytes } from '../../store/messages/attachments.ts'
import type { Hub } from '../hub/hub.ts'
import { checkKept, checkPicture } from '../messages/contents.ts'
import { partBytes } from '../messages/staging.ts'
import type { Attachment } from '../messages/stored-attachments.ts'
import { broken } from './faults.ts'
import type { ExportRecord, FileRecord, MessageRecord } from './records.ts'

/** The paths that a message names, each once. */
const pathsOf = (attachments: readonly Attachment[]): Set<string> =>
  new Set(
    attachments.flatMap((one) => [
      ...(one.kind === 'file' ? [one.path] : []),
      ...(one.kind === 'link' || one.original === undefined ? [] : [one.original]),
    ]),
  )

interface Carrying {
  /** The sender's project, which has the files. */
  readonly projectId: number
  readonly attachments: readonly Attachment[]
}

/** The files of a message, without those in `written`. */
export async function* filesOf(
  db: Reader,
  { projectId, attachments }: Carrying,
  written: Set<string>,
): AsyncGenerator<Pick<FileRecord, 'path' | 'mediaType' | 'bytes'>> {
  for (const path of pathsOf(attachments)) {
    const seen = `${projectId}/${path}`
    if (written.has(seen)) continue
    written.add(seen)
    const file = await findFile(db, projectId, path)
    const parts: Uint8Array[] = []
    for (let part: Uint8Array | undefined; file !== undefined; parts.push(part)) {
      part = await findPart(db, file.content, parts.length)
      if (part === undefined) break
    }
    const bytes = Buffer.concat(parts)
    if (file === undefined || bytes.length !== Number(file.size))
      throw new HubError('STORAGE_FAILED', `The file ${path} is incomplete in the database.`, {
        hint: 'Nothing more was exported. Restore a backup that has it, or export the other threads one by one.',
      })
    yield { path, mediaType: file.media_type, bytes }
  }
}

const keyOf = (project: string | undefined, path: string): string => `${project ?? ''}\0${path}`

/** SHA-256 and size by project and path. */
export type Checked = ReadonlyMap<string, { readonly sha256: string; readonly size: number }>

/** Before the transaction: to decode an image takes long. */
export async function checkFiles(records: Iterable<ExportRecord>): Promise<Checked> {
  const checked = new Map<string, { sha256: string; size: number }>()
  for (const record of records) {
    if (record.type === 'file') {
      const { project, path, bytes } = record
      if (bytes.length > limits.attachmentBytes) throw broken(`${path} is too large`)
      const content = await checkKept(record).catch(refusedAsBroken)
      if (content.path !== path) throw broken(`${path} is not the name of its content`)
      checked.set(keyOf(project, path), { sha256: content.sha256, size: bytes.length })
    } else if (record.type === 'message') await checkInline(record)
  }
  return checked
}

function refusedAsBroken(error: unknown): never {
  throw error instanceof HubError ? broken(error.message, error) : error
}

async function checkInline({ id, attachments }: MessageRecord): Promise<void> {
  if (attachments.length > limits.attachments) throw broken(`message ${id} has ${attachments.length} attachments`)
  let length = 0
  for (const one of attachments) {
    if (one.kind !== 'inline') continue
    const uri = parseDataUri(one.dataUri ?? '')
    if (uri === undefined || one.mediaType !== 'image/webp' || uri.mediaType !== one.mediaType)
      throw broken(`an image in message ${id} is no WebP`)
    await checkPicture(`image of message ${id}`, uri.bytes, 'webp').catch(refusedAsBroken)
    length += one.dataUri?.length ?? 0
  }
  if (length > limits.inlineLength) throw broken(`message ${id} has images of ${length} characters`)
}

/** Stores files in the transaction of an import. */
export class FileIntake {
  readonly #hub: Hub
  readonly #tx: Tx
  readonly #checked: Checked
  readonly #stored = new Map<string, boolean>()

  constructor(hub: Hub, tx: Tx, checked: Checked) {
    this.#hub = hub
    this.#tx = tx
    this.#checked = checked
  }

  /** A file that the project has already is not stored again (mail.attach.dedup). */
  async take({ project, path, mediaType: media_type, bytes }: FileRecord, projectId: number): Promise<void> {
    const key = keyOf(project, path)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    if (this.#checked.get(key)?.sha256 !== sha256) throw broken(`${path} was changed meanwhile`)
    if (!this.#stored.has(key)) this.#stored.set(key, false)
    const content = this.#hub.ids.uuid()
    const file = { path, sha256, media_type, size: bytes.length, content }
    if (!(await insertFile(this.#tx, { projectId, now: this.#hub.clock.now(), file }))) {
      if ((await findFile(this.#tx, projectId, path))?.sha256 !== sha256) throw broken(`another file is called ${path}`)
      return
    }
    for (let at = 0, position = 0; at < bytes.length || position === 0; at += partBytes, position++)
      await insertPart(this.#tx, content, position, bytes.subarray(at, at + partBytes))
    const most = this.#hub.rules.attachments.quotaBytes
    if (!(await raiseAttachmentBytes(this.#tx, { projectId, by: bytes.length, most }))) throw overQuota(most)
  }

  /** Each file that a message names must have come before it, and be as it says. */
  name({ id, from, attachments }: MessageRecord): void {
    let total = 0
    for (const path of pathsOf(attachments)) {
      const key = keyOf(from.project, path)
      if (!this.#stored.has(key)) throw broken(`${path} of message ${id} is not in it`)
      this.#stored.set(key, true)
      total += this.#checked.get(key)?.size ?? 0
    }
    if (total > limits.attachmentBytes)
      throw broken(`message ${id} has files of more than ${sizeInWords(limits.attachmentBytes)}`)
    for (const one of attachments)
      if (
        one.kind === 'file' &&
        (one.bytes !== this.#checked.get(keyOf(from.project, one.path))?.size || !one.path.includes(`/${one.sha1}.`))
      )
        throw broken(`message ${id} describes ${one.path} wrongly`)
  }

  end(): void {
    for (const [key, named] of this.#stored) if (!named) throw broken(`no message names ${key.split('\0')[1]}`)
  }
}

const overQuota = (most: number | undefined): HubError =>
  new HubError('QUOTA_EXCEEDED', `With its files the project would hold more than ${most} bytes of attachments.`, {
    hint: 'Nothing was imported. Raise QUOTA_ATTACHMENTS_LIMIT_BYTES, and import it again.',
  })
