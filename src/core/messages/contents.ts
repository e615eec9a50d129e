/** The content of attachments: where it is read, which of it is taken, and what it becomes. */
import { webcrypto } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { isDataUri, parseDataUri, toDataUri } from '../../attachments/data-uri.ts'
import { giveContent, readInside, refused, tooLarge } from '../../attachments/folder.ts'
import { holdsKey } from '../../attachments/forbidden-files.ts'
import { lying, toWebp } from '../../attachments/images.ts'
import {
  extensionOf,
  extensionOfKind,
  extensionOfMediaType,
  type Kind,
  kindOfExtension,
  kindOfMediaType,
  mediaTypeOf,
  mediaTypeOfExtension,
  type Raster,
  sniff,
} from '../../attachments/kinds.ts'
import { svgFault } from '../../attachments/svg.ts'
import { HubError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import { echo } from '../../base/text.ts'
import type { Hub } from '../hub/hub.ts'
import { findGround, type Ground, judgeFile, secret } from './allowed-files.ts'

/** Where the attachments of one message are read. */
export interface Desk {
  /** Where files are read, or why none is. */
  readonly ground: Ground | string
  readonly closed: readonly string[]
  readonly hidden: boolean
  readonly keepOriginals: boolean
}

export async function openDesk(hub: Hub, key: string): Promise<Desk> {
  const { closed, hidden, keepOriginals } = hub.rules.attachments
  const real = closed.map((path) => realpath(path).catch(() => path))
  return { ground: await findGround(hub, key), closed: await Promise.all(real), hidden, keepOriginals }
}

interface Source {
  /** Its name in errors. */
  readonly what: string
  readonly bytes: Buffer
  readonly declared: Kind
  readonly mediaType: string
  readonly extension: string | undefined
}

/** A file that is not there is an error only if it is needed. */
export async function readSource(desk: Desk, address: string, needed: boolean): Promise<Source | undefined> {
  if (isDataUri(address)) return readDataUri(address)
  const found = (await readAs(desk, address)) ?? (needed ? undefined : await readDecoded(desk, address))
  if (found !== undefined) return found
  if (!needed) return undefined
  throw new HubError('NOT_FOUND', `There is no file ${JSON.stringify(echo(address))} in the project's folder.`, {
    hint: 'Nothing was sent. Name the file by its path from the folder of the project.',
  })
}

/** Addresses in Markdown are written with %20 for a space. */
async function readDecoded(desk: Desk, address: string): Promise<Source | undefined> {
  if (!address.includes('%')) return undefined
  try {
    return await readAs(desk, decodeURIComponent(address))
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

async function readAs({ ground, closed, hidden }: Desk, path: string): Promise<Source | undefined> {
  if (typeof ground === 'string') throw refused(path, `cannot be read: ${ground}`, { hint: giveContent })
  if (path.includes('\0')) throw refused(path, 'is no name of a file')
  const extension = extensionOf(path)
  const declared = kindOfExtension(extension)
  const most = declared === 'other' ? limits.fileBytes : declared === 'svg' ? limits.svgBytes : limits.imageBytes
  const judge = async (real: string) => (hidden ? undefined : judgeFile(ground, path, real))
  const bytes = await readInside(ground.folder, path, { most, closed, judge })
  if (bytes !== undefined && !hidden && holdsKey(bytes)) throw secret(path, 'holds a private key')
  return bytes && { what: path, bytes, declared, mediaType: mediaTypeOfExtension(extension), extension }
}

function readDataUri(address: string): Source {
  const what = `${address.slice(0, 40)}…`
  const uri = parseDataUri(address)
  if (uri === undefined)
    throw refused(what, 'is no well-formed data URI', {
      hint: 'Nothing was sent. Write it as data:<media type>;base64,<content>; in Markdown that only shows one, as code.',
    })
  const { mediaType, bytes } = uri
  return { what, bytes, declared: kindOfMediaType(mediaType), mediaType, extension: extensionOfMediaType(mediaType) }
}

/** A stored content, under a path that its bytes decide. */
export interface Content {
  readonly mediaType: string
  readonly bytes: Buffer
  readonly path: string
  readonly sha1: string
  readonly sha256: string
  dataUri(): string
}

export interface Made {
  readonly content: Content
  /** Whether it is a WebP that may stand in the message itself. */
  readonly image: boolean
  /** The image before it was converted, where it is kept. */
  readonly original: Content | undefined
}

/** An image is decoded wholly even where it is kept as it is: what is broken or too large is refused either way. */
export async function makeContent(desk: Desk, source: Source, convert: boolean): Promise<Made> {
  const { what, bytes, declared, mediaType, extension = 'bin' } = source
  if (declared === 'svg') {
    checkSvg(what, bytes)
    return plain(await contentOf({ bytes, mediaType: mediaTypeOf('svg'), extension: 'svg' }))
  }
  const found = declared === 'other' ? undefined : sniff(bytes)
  if (declared !== 'other' && declared !== undefined && found !== declared) throw lying(what, declared)
  if (found === undefined) {
    if (bytes.length > limits.fileBytes) throw tooLarge(what, limits.fileBytes)
    return plain(await contentOf({ bytes, mediaType, extension }))
  }
  const webp = await toWebp(what, bytes, found)
  const original = { bytes, mediaType: mediaTypeOf(found), extension: extensionOfKind(found) }
  if (!convert) {
    if (bytes.length > limits.fileBytes) throw tooLarge(what, limits.fileBytes)
    return plain(await contentOf(original))
  }
  return {
    content: await contentOf({ bytes: webp, mediaType: mediaTypeOf('webp'), extension: 'webp' }),
    image: true,
    original: desk.keepOriginals ? await contentOf({ ...original, folder: 'originals/' }) : undefined,
  }
}

function checkSvg(what: string, bytes: Buffer): void {
  const fault = bytes.length > limits.svgBytes ? `has more than ${limits.svgBytes} bytes` : svgFault(bytes)
  if (fault !== undefined)
    throw refused(what, fault, { hint: 'Nothing was sent. Export it as PNG: an SVG is kept only if it just draws.' })
}

/** Refuses what is no whole picture of this kind. */
export async function checkPicture(what: string, bytes: Buffer, kind: Raster): Promise<void> {
  if (sniff(bytes) !== kind) throw lying(what, kind)
  await toWebp(what, bytes, kind)
}

/** Checks a content stored elsewhere as if it were sent here; the result has the path that its bytes decide. */
export async function checkKept({ path, mediaType, bytes }: Pick<Content, 'path' | 'mediaType' | 'bytes'>) {
  const extension = extensionOf(path) ?? 'bin'
  const kind = kindOfExtension(extension)
  if (kind !== kindOfMediaType(mediaType)) throw lying(path, extension)
  if (kind === 'svg') checkSvg(path, bytes)
  else if (kind !== 'other' && kind !== undefined) await checkPicture(path, bytes, kind)
  const folder = path.startsWith('attachments/originals/') ? 'originals/' : ''
  return contentOf({ bytes, mediaType, extension, folder })
}

const plain = (content: Content): Made => ({ content, image: false, original: undefined })

interface Kept {
  readonly bytes: Buffer
  readonly mediaType: string
  readonly extension: string
  readonly folder?: string
}

async function contentOf({ bytes, mediaType, extension, folder = '' }: Kept): Promise<Content> {
  const [sha1, sha256] = [await hash('SHA-1', bytes), await hash('SHA-256', bytes)]
  return {
    mediaType,
    bytes,
    sha1,
    sha256,
    path: `attachments/${folder}${sha1.slice(0, 2)}/${sha1}.${extension}`,
    dataUri: () => toDataUri(mediaType, bytes),
  }
}

/** On a thread: 10 MiB would hold up the others for as many milliseconds. */
const hash = async (name: string, bytes: Buffer): Promise<string> =>
  Buffer.from(
    await webcrypto.subtle.digest(name, new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length)),
  ).toString('hex')
