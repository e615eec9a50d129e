/** Digests: a thread as one page to read, a hundred messages a part. They grow at their end. */
import { addressIn, type Home, type Party, rootFrom, withImages } from './documents.ts'
import { digestLength, digestPath, messagePath } from './layout.ts'

export interface DigestEntry {
  readonly id: number
  readonly seq: number
  readonly createdAt: number
  readonly from: Party
  /** The open recipients: no blind copies. */
  readonly to: readonly Party[]
  readonly subject: string
  /** The beginning of the message. */
  readonly body: string
  /** How many characters it has. */
  readonly length: number
  /** The paths of its stored files. */
  readonly stored: readonly string[]
}

interface Thread {
  readonly name: string
  /** Of a topic. */
  readonly topic?: { readonly name: string; readonly closedAt: number | undefined; readonly reason: string | undefined }
  readonly createdAt: number
}

/** The characters of a message that a digest shows; the message itself has them all. */
export const digestExcerpt = 1200

const minutes = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`

const line = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()

export function digestText(thread: Thread, part: number, entries: readonly DigestEntry[], home: Home): string {
  return [
    ...(part === 1 ? headOf(thread) : [`# ${line(thread.name)}, part ${part}`]),
    ...entries.map((entry) => entryText(entry, home)),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n')
}

function headOf({ name, topic, createdAt }: Thread): string[] {
  if (topic === undefined) return [`# ${line(name)}`, `Thread of ${minutes(createdAt)}.`]
  const closed = topic.closedAt === undefined ? '' : `, closed ${minutes(topic.closedAt)}`
  const reason = topic.reason === undefined ? '' : `: ${line(topic.reason)}`
  return [`# ${line(topic.name)}`, `Topic ${name} of ${minutes(createdAt)}${closed}${closed && reason}.`]
}

const rootOfDigests = rootFrom(digestPath('thread', 1))

const cutImage = /!\[[^\]\n]{0,1000}\]\([^)\n]*$/

/** The message is quoted: a heading in it is none of the digest. */
function entryText(entry: DigestEntry, home: Home): string {
  const { id, seq, createdAt, from, to, subject, length, stored } = entry
  const address = addressIn(home)
  const whom = to.length === 0 ? '' : ` to ${to.map(address).join(', ')}`
  const above = from.project === home.slug ? '..' : `../../../${from.project}/messages`
  const link = `${above}/${messagePath({ id, createdAt }).slice('messages/'.length)}`
  // An image that is cut in the middle is none.
  const body = length > digestExcerpt ? entry.body.replace(cutImage, '') : entry.body
  const left = length - digestExcerpt + [...entry.body].length - [...body].length
  const rest = length > digestExcerpt ? [`[${left} more characters](${link})`] : []
  // The files are beside every copy of a message: here, where somebody of this project has one.
  const here = [from, ...to].some(({ project }) => project === home.slug)
  const quote = withImages(body, stored, here ? rootOfDigests : `../../../${from.project}/`)
    .trimEnd()
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((text) => `> ${text}`.trimEnd())
    .join('\n')
  return [
    `## ${seq}. ${address(from)}${whom} | ${line(subject)}`,
    `${minutes(createdAt)} · [${id}](${link})`,
    quote,
    ...rest,
  ].join('\n\n')
}

/** The `seq` of the first and the last message of a part. */
export const digestRange = (part: number): { from: number; to: number } => ({
  from: (part - 1) * digestLength + 1,
  to: part * digestLength,
})

/** The messages that a digest links to, by the files of this project's own archive. */
export function linkedFiles(text: string): string[] {
  const links = text.matchAll(/^\d{4}-\d\d-\d\d \d\d:\d\d UTC · \[\d+\]\(\.\.\/(\d{4}\/\d\d\/\d+\.md)\)$/gm)
  return [...links].map(([, path]) => `messages/${path}`)
}
