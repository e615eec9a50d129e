/** The state of one client besides single requests: its running calls, what it follows, and how much it wants to be told. */
import type { JSONRPCResponse, LoggingLevel, RequestId } from '@modelcontextprotocol/server'
import type { SessionUpdates } from './updates.ts'

export class Conversation {
  readonly calls = new Map<RequestId, { lose(): unknown }>()
  /** The questions to the client that wait for an answer. */
  readonly asked = new Map<RequestId, (answer: JSONRPCResponse) => void>()
  /** The folder that the client works in, once it was asked for. */
  folder: Promise<string | undefined> | undefined
  /** Absent until the client follows something, or opens a stream. */
  updates: SessionUpdates | undefined
  /** Writes to the client besides its requests, if it reads; absent where there is no way. */
  tell: ((text: string) => void) | undefined
  /** The least severe notes that the client asked for. */
  level: LoggingLevel | undefined

  cancel(id: RequestId): void {
    this.calls.get(id)?.lose()
  }

  /** The client answers a question; an answer that nobody waits for is passed over. */
  answer(answer: JSONRPCResponse): void {
    if (answer.id !== undefined) this.asked.get(answer.id)?.(answer)
  }

  /** The client is gone: it is told nothing any more, and no call is answered. */
  close(): void {
    this.updates?.close()
    for (const call of [...this.calls.values()]) call.lose()
  }
}
