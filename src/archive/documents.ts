/** The files of the archive as people read them: messages, profiles, reservations; and the subjects of commits. */
import { listImages, replaceImages } from '../attachments/markdown.ts'

/** An agent as somebody of this archive's project addresses it. */
export interface Party {
  readonly name: string
  /** The slug of its project. */
  readonly project: string
}

/** An attachment of a message. Inline images may stand in its body. */
type Enclosure =
  | { readonly kind: 'link'; readonly uri: string }
  | ({ readonly mediaType: string; readonly original?: string | undefined } & (
      | { readonly kind: 'inline'; readonly dataUri: string | undefined; readonly sha1?: string | undefined }
      | { readonly kind: 'file'; readonly path: string; readonly bytes: number; readonly sha1: string }
    ))

export interface ArchivedMessage {
  readonly id: number
  readonly createdAt: number
  /** The name of its thread: of one without, the id of the message that began it. */
  readonly thread: string
  readonly from: Party
  readonly to: readonly Party[]
  readonly cc: readonly Party[]
  readonly bcc: readonly Party[]
  readonly subject: string
  readonly importance: string
  readonly ackRequired: boolean
  readonly body: string
  readonly attachments: readonly Enclosure[]
  /** Set for a message in a topic, which has no recipients. */
  readonly said?: {
    readonly seq: number
    readonly kind: string
    readonly replyTo: number | undefined
    readonly metadata: unknown
  }
}

export interface Home {
  readonly slug: string
  /** The project's name for people: usually the absolute path of a repository. */
  readonly key: string
}

/** Where the archive of a project begins, seen from one of its files. */
export const rootFrom = (path: string): string => '../'.repeat(path.split('/').length - 1)

/** The text with its images where they are, seen from the file that it stands in (mail.archive.images). */
export function withImages(body: string, stored: readonly string[], root: string): string {
  if (stored.length === 0) return body
  const places = listImages(body).filter(({ address }) => stored.includes(address))
  return replaceImages(
    body,
    places.map((place) => ({ ...place, by: `${root}${place.address}` })),
  )
}

const iso = (ms: number): string => new Date(ms).toISOString()

export const addressIn =
  ({ slug }: Home) =>
  ({ name, project }: Party): string =>
    project === slug ? name : `${name}@${project}`

interface Copy {
  readonly path: string
  /** Blind copies that the reader of this copy may know of; the file has the field only where there are some. */
  readonly bcc?: readonly Party[]
}

export function messageText(message: ArchivedMessage, home: Home, { path, bcc = [] }: Copy): string {
  const { id, createdAt, thread, from, to, cc, subject, importance, ackRequired, body, attachments, said } = message
  const address = addressIn(home)
  const head = {
    id,
    thread_id: thread,
    project: home.key,
    project_slug: home.slug,
    from: address(from),
    to: to.map(address),
    cc: cc.map(address),
    ...(bcc.length > 0 && { bcc: bcc.map(address) }),
    subject,
    created: iso(createdAt),
    importance,
    ack_required: ackRequired,
    attachments: attachments.map((one) => enclosureOf(one, body)),
    ...(said && {
      seq: said.seq,
      message_type: said.kind,
      reply_to: said.replyTo ?? null,
      metadata: said.metadata ?? null,
    }),
  }
  const stored = attachments.flatMap((one) => (one.kind === 'file' ? [one.path] : []))
  const text = withImages(body, stored, rootFrom(path))
  return `---json\n${JSON.stringify(head, undefined, 2)}\n---\n\n${text}${text.endsWith('\n') ? '' : '\n'}`
}

/** As messages show it. An image that stands in the body is not repeated; another is nowhere else. */
function enclosureOf(one: Enclosure, body: string) {
  if (one.kind === 'link') return { type: 'link', uri: one.uri }
  const { kind: type, mediaType: media_type, original } = one
  const kept = original === undefined ? {} : { original_path: original }
  if (one.kind === 'file') return { type, media_type, path: one.path, bytes: one.bytes, sha1: one.sha1, ...kept }
  const { dataUri: data_uri, sha1 } = one
  const omitted = data_uri === undefined || body.includes(data_uri)
  const content = omitted ? { data_omitted: true } : { data_uri }
  return { type, media_type, ...(sha1 !== undefined && { sha1 }), ...content, ...kept }
}

interface ProfileFacts {
  readonly id: number
  readonly name: string
  readonly program: string
  readonly model: string
  readonly task: string
  readonly contactPolicy: string
  readonly attachmentsPolicy: string
  readonly createdAt: number
}

/** Without the last activity and the unread mail: they change with every call. */
export const profileText = (profile: ProfileFacts, home: Home): string =>
  json({
    id: profile.id,
    name: profile.name,
    project: home.key,
    project_slug: home.slug,
    program: profile.program,
    model: profile.model,
    task_description: profile.task,
    contact_policy: profile.contactPolicy,
    attachments_policy: profile.attachmentsPolicy,
    inception_ts: iso(profile.createdAt),
  })

interface LeaseFacts {
  readonly id: number
  readonly agent: string
  readonly exclusive: boolean
  readonly reason: string
  readonly createdAt: number
  readonly expiresAt: number
  readonly releasedAt: number | undefined
}

/** The newest reservations of one pattern, the oldest of them first. */
export const leaseText = (pattern: string, leases: readonly LeaseFacts[]): string =>
  json({
    path_pattern: pattern,
    reservations: leases.map((lease) => ({
      id: lease.id,
      agent: lease.agent,
      exclusive: lease.exclusive,
      reason: lease.reason,
      created_ts: iso(lease.createdAt),
      expires_ts: iso(lease.expiresAt),
      released_ts: lease.releasedAt === undefined ? null : iso(lease.releasedAt),
    })),
  })

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`

/** One line of a commit: text of agents cannot begin another, and is cut where a line gets too long to read. */
export function subjectLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return line.length > 200 ? `${[...line].slice(0, 199).join('')}…` : line
}

/** The first few, and how many more there are. */
export const listed = (names: readonly string[]): string =>
  names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ')

/** Blind copies are in no commit's message. */
export function messageSubject(message: ArchivedMessage, home: Home): string {
  const address = addressIn(home)
  const { said, thread, from, to, cc, subject } = message
  const whom = said === undefined ? listed([...to, ...cc].map(address)) : `topic ${thread}`
  return subjectLine(`mail: ${address(from)} -> ${whom || '(nobody openly)'} | ${subject}`)
}
