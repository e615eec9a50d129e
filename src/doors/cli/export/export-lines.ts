/** Exported records as lines of JSON, in the words of the mail door, and back. */
import { z } from 'zod'
import { HubError } from '../../../base/errors.ts'
import { limits } from '../../../base/limits.ts'
import { linkFault } from '../../../base/text.ts'
import { contactPolicies } from '../../../core/agents/agents.ts'
import type { Attachment } from '../../../core/messages/stored-attachments.ts'
import type { ExportRecord, MessageRecord, Person } from '../../../core/transfers/records.ts'
import { toAttachment } from '../../words/attachments.ts'
import { check } from '../../words/fields.ts'
import { iso } from '../../words/times.ts'
import { harmlessJson } from '../terminal/harmless.ts'

/** The format; another number is another format. */
const version = 1

const orNull = (ms: number | undefined): string | null => (ms === undefined || ms === 0 ? null : iso(ms))

const toPerson = ({ name, project }: Person) => (project === undefined ? { name } : { name, project })

export function toLine(record: ExportRecord): string {
  return `${harmlessJson(shape(record))}\n`
}

function shape(record: ExportRecord): unknown {
  switch (record.type) {
    case 'begin': {
      const { slug, key, createdAt } = record.project
      const project = { slug, human_key: key, created_at: iso(createdAt) }
      return { parley_export: version, project, thread: record.thread ?? null, exported_at: iso(record.at) }
    }
    case 'agent': {
      const { name, program, model, task, policy, keyed, activeAt, createdAt } = record
      const profile = { name, program, model, task_description: task, contact_policy: policy, keyed }
      return { agent: { ...profile, last_active_at: orNull(activeAt), created_at: iso(createdAt) } }
    }
    case 'thread': {
      const { uid, key = null, name = null, status, metadata = null, createdAt, closedAt, closeReason = null } = record
      const times = { created_at: iso(createdAt), closed_at: orNull(closedAt), close_reason: closeReason }
      return { thread: { uid, thread_id: key, name, status, metadata, ...times } }
    }
    case 'file': {
      const { project, path, mediaType: media_type, bytes } = record
      return { file: { ...(project !== undefined && { project }), path, media_type, base64: bytes.toString('base64') } }
    }
    case 'message':
      return { message: messageShape(record) }
    case 'end': {
      const { agents, threads, messages } = record
      return { end: { agents, threads, messages } }
    }
  }
}

const messageShape = (message: MessageRecord) => ({
  id: message.id,
  uid: message.uid,
  thread: message.thread,
  seq: message.seq,
  from: toPerson(message.from),
  to: message.to.map(({ kind, readAt, ackedAt, ended, ...who }) => ({
    ...toPerson(who),
    kind,
    read_ts: orNull(readAt),
    ack_ts: orNull(ackedAt),
    ...(ended !== undefined && { ended }),
  })),
  client_message_id: message.clientId ?? null,
  message_type: message.kind,
  reply_to: message.replyTo ?? null,
  subject: message.subject ?? null,
  importance: message.importance,
  ack_required: message.ackRequired,
  mail: message.mail,
  body_md: message.body,
  ...(message.attachments.length > 0 && { attachments: message.attachments.map(toAttachment) }),
  metadata: message.metadata ?? null,
  created_ts: iso(message.createdAt),
  ...(message.author !== undefined && { author: message.author }),
})

const time = z.iso.datetime().transform((text) => Date.parse(text))
const maybe = <T extends z.ZodType>(kind: T) => kind.nullish().transform((value) => value ?? undefined)
const text = z.string()
const whole = z.int().nonnegative()
const person = z.object({ name: text.min(1).max(100), project: text.min(1).optional() })

const delivery = person.extend({
  kind: z.enum(['to', 'cc', 'bcc']),
  read_ts: maybe(time),
  ack_ts: maybe(time),
  ended: maybe(z.enum(['expired', 'dead', 'dropped'])),
})

/** Node skips characters that are not base64: a text that was cut or altered would become another file. */
const base64 = text.transform((given, { addIssue }) => {
  const bytes = Buffer.from(given, 'base64')
  if (bytes.toString('base64') !== given) addIssue('not base64')
  return bytes
})

const attachment = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('link'), uri: text.check(check(linkFault)) }),
    z.object({ type: z.literal('inline'), media_type: text, data_uri: text, original_path: text.optional() }),
    z.object({
      type: z.literal('file'),
      media_type: text,
      path: text,
      bytes: whole,
      sha1: text.regex(/^[0-9a-f]{40}$/),
      original_path: text.optional(),
    }),
  ])
  .transform((given): Attachment => {
    if (given.type === 'link') return { kind: 'link', uri: given.uri }
    const { type: kind, media_type: mediaType, original_path: original, ...one } = given
    const kept = { mediaType, original }
    if ('data_uri' in one) return { kind: 'inline', ...kept, dataUri: one.data_uri }
    return { kind: 'file', ...kept, ...one }
  })

const line = z.union([
  z
    .object({
      file: z.object({
        project: text.min(1).optional(),
        path: text.regex(/^attachments\/(originals\/)?[0-9a-f]{2}\/[0-9a-f]{40}\.[a-z0-9]{1,10}$/),
        media_type: text.max(127),
        base64,
      }),
    })
    .transform(({ file: { project, path, media_type: mediaType, base64: bytes } }) => ({
      type: 'file' as const,
      ...{ project, path, mediaType, bytes },
    })),
  z
    .object({
      parley_export: z.literal(version),
      project: z.object({ slug: text, human_key: text.min(1), created_at: time }),
      thread: maybe(text),
      exported_at: time,
    })
    .transform(({ project: { slug, human_key: key, created_at: createdAt }, thread, exported_at: at }) => ({
      type: 'begin' as const,
      project: { slug, key, createdAt },
      thread,
      at,
    })),
  z
    .object({
      agent: person.extend({
        program: text,
        model: text,
        task_description: text,
        contact_policy: z.enum(contactPolicies),
        keyed: z.boolean(),
        last_active_at: maybe(time),
        created_at: time,
      }),
    })
    .transform(({ agent: { task_description: task, contact_policy: policy, ...agent } }) => ({
      type: 'agent' as const,
      ...agent,
      task,
      policy,
      activeAt: agent.last_active_at ?? 0,
      createdAt: agent.created_at,
    })),
  z
    .object({
      thread: z.object({
        uid: text.min(1).max(128),
        thread_id: maybe(text.min(1).max(128)),
        name: maybe(text.min(1).max(255)),
        status: z.enum(['open', 'closed']),
        metadata: maybe(text),
        created_at: time,
        closed_at: maybe(time),
        close_reason: maybe(text),
      }),
    })
    .transform(({ thread: { uid, thread_id: key, name, status, metadata, ...thread } }) => ({
      type: 'thread' as const,
      ...{ uid, key, name, status, metadata },
      createdAt: thread.created_at,
      closedAt: thread.closed_at,
      closeReason: thread.close_reason,
    })),
  z
    .object({
      message: z.object({
        id: whole,
        uid: text.min(1).max(128),
        thread: text,
        seq: whole,
        from: person,
        to: z.array(delivery),
        client_message_id: maybe(text),
        message_type: text,
        reply_to: maybe(whole),
        subject: maybe(text),
        importance: z.enum(['low', 'normal', 'high', 'urgent']),
        ack_required: z.boolean(),
        mail: z.boolean(),
        body_md: text,
        attachments: z.array(attachment).max(limits.attachments).default([]),
        metadata: maybe(text),
        created_ts: time,
        author: maybe(text.min(1).max(100)),
      }),
    })
    .transform(({ message: { to, ...message } }) => ({
      type: 'message' as const,
      ...message,
      to: to.map(({ read_ts: readAt, ack_ts: ackedAt, ...who }) => ({ ...who, readAt, ackedAt })),
      clientId: message.client_message_id,
      kind: message.message_type,
      replyTo: message.reply_to,
      ackRequired: message.ack_required,
      body: message.body_md,
      createdAt: message.created_ts,
    })),
  z
    .object({ end: z.object({ agents: whole, threads: whole, messages: whole }) })
    .transform(({ end }) => ({ type: 'end' as const, ...end })),
])

export function fromLine(given: string, number: number): ExportRecord {
  const found = line.safeParse(parsed(given))
  if (found.success) return found.data
  throw new HubError('INVALID_ARGUMENT', `Line ${number} is not part of an export of Parley.`, {
    hint: 'Nothing was imported. Pass the file that `parley export --format json` wrote, unchanged.',
  })
}

function parsed(given: string): unknown {
  try {
    return JSON.parse(given)
  } catch {
    return undefined
  }
}
