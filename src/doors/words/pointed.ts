/** Messages as pointers name them: ids, senders and threads that nobody can make read like an instruction. */
import type { Pointer } from '../../core/presence/pointer.ts'
import { iso } from './times.ts'

/** Names on the bus may hold spaces and signs: none of them may read like a sentence, end a quotation, or press a key. */
export const cleaned = (name: string): string => name.replace(/[^\p{L}\p{N}_.@-]+/gu, '_').slice(0, 100)

/** The sender chooses the name of a thread: one that is no plain key is left out. */
const plainThread = (thread: string | undefined): string | undefined =>
  thread !== undefined && /^[A-Za-z0-9][\w.:#-]{0,63}$/.test(thread) ? thread : undefined

export const toPointed = (messages: Pointer['messages']) =>
  messages.map(({ id, from, thread, importance, createdAt }) => ({
    id,
    from: cleaned(from),
    ...(plainThread(thread) !== undefined && { thread: plainThread(thread) }),
    importance,
    created: iso(createdAt),
  }))

const mostThreads = 5

/** The threads of messages, each once, as a part of a sentence. */
export function threadsOf(messages: readonly { readonly thread?: string | undefined }[]): string {
  const threads = [...new Set(messages.flatMap(({ thread }) => thread ?? []))].slice(0, mostThreads)
  if (threads.length === 0) return ''
  return `, in the thread${threads.length === 1 ? '' : 's'} ${threads.join(', ')}`
}

/** How many there are, and from whom: each sender once, with the ids. */
export function countedFrom(messages: readonly { readonly id: number; readonly from: string }[]) {
  const senders = [...Map.groupBy(messages, ({ from }) => from)].map(
    ([from, own]) => `${from} (${own.map(({ id }) => `#${id}`).join(', ')})`,
  )
  const count = messages.length === 1 ? '1 new message' : `${messages.length} new messages`
  return { count, senders: senders.join(', ') }
}
