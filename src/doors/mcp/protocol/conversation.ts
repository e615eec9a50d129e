/** The state of one client besides single requests: its running calls, and the resources it watches. */
import type { RequestId } from '@modelcontextprotocol/server'

/** More than any client needs, and little enough that one client cannot fill the memory. */
const maxWatched = 1000

export class Conversation {
  readonly calls = new Map<RequestId, { lose(): unknown }>()
  readonly #watched = new Map<string, () => void>()
  readonly #send: (uri: string, text: string) => void

  /** `send` gets the notification that `uri` has changed. */
  constructor(send: (uri: string, text: string) => void) {
    this.#send = send
  }

  cancel(id: RequestId): void {
    this.calls.get(id)?.lose()
  }

  /** Starts to watch `uri`; false when the client already watches as much as it may. */
  watch(uri: string, start: (changed: () => void) => () => void): boolean {
    if (this.#watched.has(uri)) return true
    if (this.#watched.size >= maxWatched) return false
    this.#watched.set(
      uri,
      start(() => this.#send(uri, updated(uri))),
    )
    return true
  }

  unwatch(uri: string): void {
    this.#watched.get(uri)?.()
    this.#watched.delete(uri)
  }

  unwatchAll(): void {
    for (const stop of this.#watched.values()) stop()
    this.#watched.clear()
  }

  /** The client is gone: nothing is watched any more, and no call is answered. */
  close(): void {
    this.unwatchAll()
    for (const call of [...this.calls.values()]) call.lose()
  }
}

/** The notification that a resource has changed, in either era. */
export const updated = (uri: string, meta?: object): string =>
  JSON.stringify({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri, _meta: meta } })
