/** Where things are in the archive of a project, and how names become file names. */
import { createHash } from 'node:crypto'

const monthOf = (at: number): string => new Date(at).toISOString().slice(0, 7).replace('-', '/')

interface Dated {
  readonly id: number
  readonly createdAt: number
}

const agentFolder = (name: string): string => `agents/${fileName(name)}`

export const profilePath = (name: string): string => `${agentFolder(name)}/profile.json`

export const messagePath = ({ id, createdAt }: Dated): string => `messages/${monthOf(createdAt)}/${id}.md`

export const inboxPath = (name: string, { id, createdAt }: Dated): string =>
  `${agentFolder(name)}/inbox/${monthOf(createdAt)}/${id}.md`

/** All of an inbox, as a pattern of paths. */
export const inboxPattern = (name: string): string => `${agentFolder(name)}/inbox/**`

export const outboxPath = (name: string, { id, createdAt }: Dated): string =>
  `${agentFolder(name)}/outbox/${monthOf(createdAt)}/${id}.md`

export const leasePath = (pattern: string): string =>
  `file_reservations/${createHash('sha1').update(pattern).digest('hex')}.json`

/** A digest has this many messages; what follows is in the next part. */
export const digestLength = 100

/** Which part of a digest a message is in, from 1 on. */
export const digestPart = (seq: number): number => Math.ceil(seq / digestLength)

/** `file` is the name of the thread as a file name. */
export const digestPath = (file: string, part: number): string =>
  `messages/threads/${file}${part === 1 ? '' : `.${part}`}.md`

/** The ids of messages and of topics, by which threads without a key go. */
const othersName = /^\d+$|^[0-9a-v]{16}$/

/** The file of a thread with a key. No two share one: `clash` tells that a thread before it differs only in case. */
export function keyFile(key: string, clash: boolean): string {
  if (clash) return encoded(key, /[a-z]/gi)
  if (othersName.test(key)) return encoded(key, /^./)
  // As the second part of another's digest would be called.
  return fileName(key).replace(/\.(?=\d+$)/, '%2E')
}

const devices = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/**
 * Letters, digits and the signs that every file system takes stay as they are, all other bytes are written as in a URL. No
 * name begins or ends with a dot, and none is that of a device.
 */
export function fileName(name: string): string {
  const first = devices.test(name) ? /^./ : /^\.|\.$/g
  return encoded(name, first)
}

/** A file system takes names of 255 bytes. */
const longest = 180

function encoded(name: string, also: RegExp): string {
  const text = name
    .replace(also, (found) => `\0${found}`)
    .replace(/\0(.)|[^A-Za-z0-9._-]/gsu, (found, marked?: string) => percent(marked ?? found))
  if (text.length <= longest) return text
  const sum = createHash('sha1').update(name).digest('hex').slice(0, 16)
  return `${text.slice(0, longest).replace(/%[0-9A-F]?$/, '')}%${sum}`
}

const percent = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
