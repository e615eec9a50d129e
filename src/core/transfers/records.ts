/** The pieces of an exported project, in the order in which they come. */
import type { DeliveryKind, Ending } from '../../store/messages/deliveries.ts'
import type { ContactPolicy } from '../agents/agents.ts'
import type { Importance } from '../messages/send.ts'
import type { Attachment } from '../messages/stored-attachments.ts'

/** An agent of the exported project, or with the key of another. */
export interface Person {
  readonly name: string
  readonly project?: string | undefined
}

export interface BeginRecord {
  readonly type: 'begin'
  readonly project: { readonly slug: string; readonly key: string; readonly createdAt: number }
  /** The thread that was asked for; undefined for all of them. */
  readonly thread: string | undefined
  readonly at: number
}

export interface AgentRecord extends Person {
  readonly type: 'agent'
  readonly program: string
  readonly model: string
  readonly task: string
  readonly policy: ContactPolicy
  /** Whether nobody acts as it without a key. */
  readonly keyed: boolean
  readonly activeAt: number
  readonly createdAt: number
}

export interface ThreadRecord {
  readonly type: 'thread'
  readonly uid: string
  readonly key: string | undefined
  /** Of a topic. */
  readonly name: string | undefined
  readonly status: 'open' | 'closed'
  /** JSON. */
  readonly metadata: string | undefined
  readonly createdAt: number
  readonly closedAt: number | undefined
  readonly closeReason: string | undefined
}

/** A file of the messages behind it, once for the project of their senders. */
export interface FileRecord {
  readonly type: 'file'
  /** The key of the senders' project, if that is another. */
  readonly project: string | undefined
  readonly path: string
  readonly mediaType: string
  readonly bytes: Buffer
}

export interface MessageRecord {
  readonly type: 'message'
  /** Its number where it was exported: another one where it is imported. */
  readonly id: number
  readonly uid: string
  /** The uid of its thread. */
  readonly thread: string
  readonly seq: number
  readonly from: Person
  readonly clientId: string | undefined
  readonly kind: string
  readonly replyTo: number | undefined
  readonly subject: string | undefined
  readonly importance: Importance
  readonly ackRequired: boolean
  /** Whether it was addressed to somebody; messages of a topic are not. */
  readonly mail: boolean
  readonly body: string
  readonly attachments: readonly Attachment[]
  readonly metadata: string | undefined
  readonly createdAt: number
  /** The person who wrote it as HumanOverseer. */
  readonly author?: string | undefined
  readonly to: readonly (Person & {
    readonly kind: DeliveryKind
    readonly readAt: number | undefined
    readonly ackedAt: number | undefined
    /** How it left the mailbox, where it did so unread; `readAt` is when. */
    readonly ended: Ending | undefined
  })[]
}

/** Without it the export was cut off. */
export interface EndRecord {
  readonly type: 'end'
  readonly agents: number
  readonly threads: number
  readonly messages: number
}

export type ExportRecord = BeginRecord | AgentRecord | ThreadRecord | FileRecord | MessageRecord | EndRecord

/** An import, as it is asked for. */
export interface Importing {
  /** From the first record on, each time that it is called: the transaction may have to begin anew. */
  records(): Iterable<ExportRecord>
  /** The key of the project to make, if it is to be another than the exported one. */
  readonly into?: string | undefined
  /** Whether a project that is there is added to. */
  readonly force?: boolean
  /** Whether threads that are in the project already are passed over, with their messages. */
  readonly missing?: boolean
  readonly progress?: (done: number) => void
}

export interface Imported {
  readonly project: string
  readonly key: string
  readonly agents: number
  readonly threads: number
  readonly messages: number
  /** Threads that were there already, and were passed over. */
  readonly passedOver: number
  /** Threads whose key another had, with the one that they got. */
  readonly renamed: readonly { readonly from: string; readonly to: string }[]
}
