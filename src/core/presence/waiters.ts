/** The waiters of this process that wake idle clients: one a session, found by it and by their agent. */

/** A waiter outside of the hub's own calls, which wakes an idle client. */
export interface Waiter {
  readonly agentId: number
  readonly session: string
  /** Its adapter: the client that it wakes. */
  readonly via: string
  readonly since: number
  /** Called when a newer waiter of the session has come. */
  displaced(): void
}

export const sessionKey = ({ agentId, session }: Pick<Waiter, 'agentId' | 'session'>): string => `${agentId} ${session}`

export class Waiters {
  readonly #bySession = new Map<string, Waiter>()
  readonly #byAgent = new Map<number, Set<Waiter>>()

  /** Puts a waiter in the place of an older one of its session, which is returned. */
  add(waiter: Waiter): Waiter | undefined {
    const older = this.#bySession.get(sessionKey(waiter))
    if (older !== undefined) this.remove(older)
    this.#bySession.set(sessionKey(waiter), waiter)
    const own = this.#byAgent.get(waiter.agentId) ?? new Set()
    this.#byAgent.set(waiter.agentId, own.add(waiter))
    return older
  }

  /** False if it was gone before. */
  remove(waiter: Waiter): boolean {
    if (this.#bySession.get(sessionKey(waiter)) !== waiter) return false
    this.#bySession.delete(sessionKey(waiter))
    const own = this.#byAgent.get(waiter.agentId)
    own?.delete(waiter)
    if (own?.size === 0) this.#byAgent.delete(waiter.agentId)
    return true
  }

  has(of: Pick<Waiter, 'agentId' | 'session'>): boolean {
    return this.#bySession.has(sessionKey(of))
  }

  /** The adapter of an agent's newest waiter. */
  viaOf(agentId: number): string | undefined {
    return [...(this.#byAgent.get(agentId) ?? [])].at(-1)?.via
  }

  all(): Waiter[] {
    return [...this.#bySession.values()]
  }
}
