/** Taking in an exported project: its threads, in the same order, with the same senders, recipients and receipts; or nothing. */
import { HubError } from '../../base/errors.ts'
import { agentNamePattern, busNameFault, isReserved, nameKey, overseer, tidyKey } from '../../base/names.ts'
import { bodyFault } from '../../base/text.ts'
import type { Tx } from '../../db/port.ts'
import { findAgent } from '../../store/agents/agents.ts'
import {
  hasThread,
  insertImportedAgent,
  insertImportedDeliveries,
  insertImportedMessage,
  insertImportedThread,
  isUidTaken,
} from '../../store/exports/transfer.ts'
import { insertCarriers, insertInline } from '../../store/messages/attachments.ts'
import { insertGuests } from '../../store/messages/guests.ts'
import { insertAuthor } from '../../store/pages/people.ts'
import { findProject, insertProject } from '../../store/projects.ts'
import { listThreadsOf } from '../../store/threads/mail-threads.ts'
import type { Caller } from '../access/callers.ts'
import { needSteering } from '../access/rules.ts'
import { mailChannel, refuseLookalike } from '../agents/agents.ts'
import { commit, type Note } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { listOf } from '../messages/attachments.ts'
import { fileAll } from '../messages/filing.ts'
import { identified, sha1sOf } from '../messages/stored-attachments.ts'
import { freeSlug } from '../projects/projects.ts'
import { broken } from './faults.ts'
import { type Checked, checkFiles, FileIntake } from './files.ts'
import type {
  AgentRecord,
  BeginRecord,
  FileRecord,
  Imported,
  Importing,
  MessageRecord,
  Person,
  ThreadRecord,
} from './records.ts'

export async function importProject(hub: Hub, caller: Caller, wish: Importing): Promise<Imported> {
  needSteering(caller)
  const checked = await checkFiles(wish.records())
  const imported = await commit(hub, caller, async (tx, note) => {
    let intake: Intake | undefined
    for (const record of wish.records()) {
      if (record.type === 'begin') intake = await Intake.begin({ hub, tx, note, wish, checked }, record)
      else if (intake === undefined) throw broken('it does not begin with a project')
      else if (record.type === 'end') return intake.end(record)
      else await intake.take(record)
    }
    throw broken('it was cut off')
  })
  await fileAll(hub)
  return imported
}

interface ImportContext {
  readonly hub: Hub
  readonly tx: Tx
  readonly note: Note
  readonly wish: Importing
  readonly checked: Checked
}

interface Home {
  readonly id: number
  readonly slug: string
  readonly key: string
}

/** One import, in one transaction. */
class Intake {
  readonly #context: ImportContext
  readonly #home: Home
  readonly #agents = new Map<string, number>()
  readonly #projects = new Map<string, number>()
  readonly #threads = new Map<string, { id: number; topic: boolean }>()
  readonly #files: FileIntake
  readonly #messages = new Map<number, number>()
  readonly #passedOver = new Set<string>()
  #passedOverMessages = 0
  readonly #renamed: { from: string; to: string }[] = []
  #made = 0

  private constructor(context: ImportContext, home: Home) {
    this.#context = context
    this.#home = home
    this.#files = new FileIntake(context.hub, context.tx, context.checked)
    this.#projects.set('', home.id)
  }

  static async begin(context: ImportContext, { project }: BeginRecord): Promise<Intake> {
    const { tx, note, wish } = context
    const key = tidyKey(wish.into ?? project.key)
    const there = await findProject(tx, key)
    if (there !== undefined && !wish.force)
      throw new HubError('INVALID_ARGUMENT', `There is a project ${JSON.stringify(key)} already.`, {
        hint: 'Nothing was imported. --into <key> imports it as another project; --force adds to the existing one.',
      })
    const row =
      there ?? (await insertProject(tx, { slug: await freeSlug(tx, key), humanKey: key, now: project.createdAt }))
    if (there === undefined) note({ kind: 'project.created', projectId: row.id })
    return new Intake(context, { id: row.id, slug: row.slug, key: row.human_key })
  }

  async take(record: AgentRecord | ThreadRecord | FileRecord | MessageRecord): Promise<void> {
    if (record.type === 'agent') await this.#agent(record, record)
    else if (record.type === 'thread') await this.#thread(record)
    else if (record.type === 'file') await this.#files.take(record, await this.#project(record.project ?? ''))
    else await this.#message(record)
  }

  end({ messages }: { messages: number }): Imported {
    const seen = this.#messages.size + this.#passedOverMessages
    if (messages !== seen) throw broken(`it has ${seen} of ${messages} messages`)
    this.#files.end()
    const { slug: project, key } = this.#home
    const counts = { agents: this.#made, threads: this.#threads.size, messages: this.#messages.size }
    return { project, key, ...counts, passedOver: this.#passedOver.size, renamed: this.#renamed }
  }

  /** The one of that name, if there is one; else it is made, with its profile where the export has it. */
  async #agent({ name, project = '' }: Person, profile?: AgentRecord): Promise<number> {
    const key = nameKey(name)
    const seen = `${project}\0${key}`
    const known = this.#agents.get(seen)
    if (known !== undefined) return known
    const { tx, note, hub } = this.#context
    const projectId = await this.#project(project)
    let id = (await findAgent(tx, projectId, key))?.id
    if (id === undefined) {
      // Everybody who writes in a project stands in its export; a stranger was put there by somebody else.
      if (project === '' && profile === undefined) throw broken(`it has no agent ${JSON.stringify(name)}`)
      await this.#checkName(projectId, name)
      id = await insertImportedAgent(tx, {
        project_id: projectId,
        name,
        name_key: key,
        program: profile?.program ?? 'unknown',
        model: profile?.model ?? 'unknown',
        task: profile?.task ?? '',
        contact_policy: profile?.policy ?? 'auto',
        keyed: profile?.keyed === true ? 1 : 0,
        active_at: profile?.activeAt ?? 0,
        created_at: profile?.createdAt ?? hub.clock.now(),
      })
      note({ kind: 'agent.created', projectId, agentId: id })
      this.#made++
    }
    this.#agents.set(seen, id)
    return id
  }

  /** As the doors would take it. People are in an export under their own name, and under no other spelling of it. */
  async #checkName(projectId: number, name: string): Promise<void> {
    const called = JSON.stringify(name)
    if (isReserved(name) && name !== overseer) throw broken(`${called} is the name of people`)
    const fault = agentNamePattern.test(name)
      ? undefined
      : name === name.trim()
        ? busNameFault(name)
        : 'has spaces around it'
    if (fault !== undefined) throw broken(`the name ${called} ${fault}`)
    await refuseLookalike(this.#context.tx, projectId, name).catch((error: unknown) => {
      throw error instanceof HubError ? broken(error.message, error) : error
    })
  }

  /** Of agents elsewhere. */
  async #project(key: string): Promise<number> {
    const known = this.#projects.get(key)
    if (known !== undefined) return known
    const { tx, note, hub } = this.#context
    const found = await findProject(tx, key)
    const row =
      found ?? (await insertProject(tx, { slug: await freeSlug(tx, key), humanKey: key, now: hub.clock.now() }))
    if (found === undefined) note({ kind: 'project.created', projectId: row.id })
    this.#projects.set(key, row.id)
    return row.id
  }

  async #thread({ uid, key, name, status, metadata, createdAt, closedAt, closeReason }: ThreadRecord): Promise<void> {
    const { tx, note, hub, wish } = this.#context
    if (wish.missing && (await hasThread(tx, uid, this.#home.id))) {
      this.#passedOver.add(uid)
      return
    }
    const id = await insertImportedThread(tx, {
      uid: (await isUidTaken(tx, 'threads', uid)) ? hub.ids.short() : uid,
      project_id: this.#home.id,
      key: key === undefined ? null : await this.#freeKey(key),
      name: name ?? null,
      name_key: name === undefined ? null : nameKey(name),
      status,
      metadata: metadata ?? null,
      created_at: createdAt,
      closed_at: closedAt ?? null,
      close_reason: closeReason ?? null,
    })
    this.#threads.set(uid, { id, topic: name !== undefined })
    if (name !== undefined) note({ kind: 'topic.created', projectId: this.#home.id, threadId: id })
  }

  /** Two conversations are never mixed into one. */
  async #freeKey(key: string): Promise<string> {
    const { tx } = this.#context
    const isTaken = async (one: string) =>
      (await listThreadsOf(tx, { key: one, projectIds: [this.#home.id] })).length > 0
    let free = key
    for (let n = 2; await isTaken(free); n++) free = `${key.slice(0, 120)}-${n}`
    if (free !== key) this.#renamed.push({ from: key, to: free })
    return free
  }

  async #message(message: MessageRecord): Promise<void> {
    const { tx, note, hub, wish } = this.#context
    if (this.#passedOver.has(message.thread)) {
      this.#files.name(message)
      this.#passedOverMessages++
      return
    }
    const thread = this.#threads.get(message.thread)
    if (thread === undefined) throw broken(`message ${message.id} is of a thread that is not in it`)
    const fault = bodyFault(message.body)
    if (fault !== undefined) throw broken(`the body of message ${message.id} ${fault}`)
    this.#files.name(message)
    const senderId = await this.#agent(message.from)
    const { importance, clientId, createdAt, ackRequired } = message
    const attachments = message.attachments.map((one) => (one.kind === 'inline' ? identified(one, message.body) : one))
    const id = await insertImportedMessage(tx, {
      threadId: thread.id,
      senderId,
      uid: (await isUidTaken(tx, 'messages', message.uid)) ? hub.ids.uuid() : message.uid,
      seq: message.seq,
      clientId,
      kind: message.kind,
      replyTo: message.replyTo === undefined ? undefined : this.#messages.get(message.replyTo),
      subject: message.subject,
      importance,
      ackRequired,
      mail: message.mail,
      body: message.body,
      attachments: listOf(attachments),
      metadata: message.metadata,
      now: createdAt,
    })
    this.#messages.set(message.id, id)
    if (message.author !== undefined && message.from.name === overseer) await insertAuthor(tx, id, message.author)
    for (const [position, one] of attachments.entries())
      if (one.kind === 'inline') insertInline(tx, { message_id: id, position, data_uri: one.dataUri ?? '' })
    insertCarriers(tx, id, sha1sOf(attachments))
    const deliveries = []
    for (const { kind, readAt = null, ackedAt = null, ended = null, ...who } of message.to)
      deliveries.push({
        recipientId: await this.#agent(who),
        kind,
        readAt,
        ackedAt,
        ended: readAt === null ? null : ended,
      })
    const urgent = importance === 'high' || importance === 'urgent'
    const about = { id, senderId, clientId: clientId ?? null, sentAt: createdAt, urgent, ackWanted: ackRequired }
    await insertImportedDeliveries(tx, about, deliveries)
    await this.#guests(thread.id, id, message)
    note({
      kind: thread.topic ? 'message.said' : 'message.sent',
      projectId: thread.topic ? this.#home.id : await this.#project(message.from.project ?? ''),
      agentId: senderId,
      threadId: thread.id,
      messageId: id,
      wakes: deliveries.filter(({ readAt }) => readAt === null).map(({ recipientId }) => mailChannel(recipientId)),
    })
    wish.progress?.(this.#messages.size)
  }

  /** The other projects that see it: the sender's, and those it openly went to. */
  async #guests(threadId: number, id: number, { from, to }: MessageRecord): Promise<void> {
    const people = [from, ...to.filter(({ kind }) => kind !== 'bcc')]
    const others = new Set(people.map(({ project = '' }) => project))
    others.delete('')
    const ids = new Set<number>()
    for (const key of others) ids.add(await this.#project(key))
    ids.delete(this.#home.id)
    if (ids.size > 0) insertGuests(this.#context.tx, { threadId, messageId: id, projectIds: [...ids] })
  }
}
