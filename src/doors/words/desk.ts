/** The questions of people at the command line, and the documents that answer: alike by the store on this machine and by a server. */

import type { toMessage, toRecipient } from './page-mail.ts'
import type { toProfile as toAgent } from './profiles.ts'
import type { toReach } from './reach.ts'
import type { topicWords } from './topics.ts'
import type { toTrace } from './trace.ts'

/** A message of a list; of one agent's inbox, with what that agent did with it. */
export interface MailWords extends Omit<ReturnType<typeof toMessage>, 'kind' | 'read_ts' | 'ack_ts'> {
  readonly kind: string | null
  readonly read_ts: string | null
  readonly ack_ts: string | null
  /** How many messages its thread has. */
  readonly count?: number
}

export interface ListWish {
  readonly project?: string | undefined
  readonly limit: number
  /** Only messages with a lower number: the next page. */
  readonly before?: number | undefined
}

export interface InboxWish extends ListWish {
  /** An agent, or Name@project: its inbox. Else all mail. */
  readonly name?: string | undefined
  readonly unread?: boolean | undefined
  /** Of all mail, only that of this sender. */
  readonly from?: string | undefined
  /** The mail that the agent has sent, instead of its inbox. */
  readonly sent?: boolean | undefined
}

export interface MailList {
  readonly messages: readonly MailWords[]
  readonly count: number
  readonly has_more: boolean
  readonly next_before: number | null
}

export interface WholeMessage extends Omit<MailWords, 'recipients'> {
  readonly topic: string | null
  readonly body_md: string
  readonly bcc: readonly string[]
  readonly recipients: readonly ReturnType<typeof toRecipient>[]
  readonly reply_to: number | null
  /** Some messages of its thread before and after it. */
  readonly thread: readonly MailWords[]
}

export type Traced = ReturnType<typeof toTrace>

export interface SearchWish {
  readonly query: string
  readonly project?: string | undefined
  readonly limit: number
  readonly page: number
  readonly newest?: boolean | undefined
}

interface SearchHit extends MailWords {
  /** The piece around the first match, with its matches marked by `**`, and the same without marks. */
  readonly snippet: string
  readonly text: string
  readonly score: number
}

export interface Found {
  readonly query: string
  readonly results: readonly SearchHit[]
  /** At least so many, if `capped`. */
  readonly total: number
  readonly capped: boolean
  readonly next_page: number | null
  readonly note: string | null
  /** Where nothing was found: a query by the beginnings of words that finds something. */
  readonly suggestion: string | null
}

export interface AgentsWish {
  readonly project?: string | undefined
  readonly limit: number
  /** Only those active within so many minutes. */
  readonly within?: number | undefined
}

export interface Directory {
  /** `reach` is told to those who see all agents. */
  readonly agents: readonly (ReturnType<typeof toAgent> & { readonly reach?: ReturnType<typeof toReach> })[]
  readonly count: number
  readonly has_more: boolean
}

/** The agents that wait for mail now, or are woken when some comes. */
export interface WaitingList {
  readonly agents: readonly {
    readonly name: string
    readonly project: string
    /** A call or stream of the agent waits. */
    readonly waiting: boolean
    /** The client that is woken when mail comes. */
    readonly via: string | null
  }[]
  readonly count: number
}

interface Sending {
  /** Names, or Name@project. */
  readonly to: readonly string[]
  /** The project of names without one. */
  readonly project?: string | undefined
  readonly subject?: string | undefined
  readonly thread?: string | undefined
  readonly body: string
}

export interface Receipt {
  readonly thread_id: string | null
  readonly sent: readonly {
    readonly project: string
    readonly message_id: number
    readonly recipients: readonly string[]
  }[]
  readonly blocked: readonly { readonly recipient: string; readonly message: string }[]
  /** Names that nobody has answered to yet. */
  readonly note?: string
}

export interface Answered {
  readonly message_id: number | null
  readonly project: string
  readonly thread_id: string
}

export type MadeTopic = ReturnType<typeof topicWords<string>> & { readonly created: boolean }

export interface FollowWish {
  readonly project?: string | undefined
  readonly thread?: string | undefined
}

export interface Follower {
  tell(message: MailWords): Promise<void>
  /** The server is away, or there again. */
  note(says: string): Promise<void>
  /** Nothing more will be told. */
  failed(error: unknown): void
}

/** Reading marks nothing; people write as the overseer. */
export interface Desk {
  now(): number
  inbox(wish: InboxWish): Promise<MailList>
  threads(wish: ListWish): Promise<MailList>
  read(id: number): Promise<WholeMessage>
  trace(id: number): Promise<Traced>
  search(wish: SearchWish): Promise<Found>
  agents(wish: AgentsWish): Promise<Directory>
  waiting(): Promise<WaitingList>
  send(sending: Sending): Promise<Receipt>
  reply(answer: { readonly id: number; readonly body: string }): Promise<Answered>
  /** An open topic of that name is left as it is. */
  createTopic(topic: { readonly name: string; readonly project: string }): Promise<MadeTopic>
  /** Resolves once every message from then on will be told; the returned function ends it. */
  follow(wish: FollowWish, follower: Follower): Promise<() => void>
  close(): Promise<void>
}

/** So many of a list at once, wherever it is read. */
export const mostListed = 1000
