/** The waiters of this process that wake idle clients: one a session, found by it and by their agent. */
import { remember } from '../hub/memory.ts'

/** A waiter outside of the hub's own calls, which wakes an idle client. */
export interface Waiter {
  readonly agentId: number
  readonly session: string
  /** Its adapter: the client that it wakes. */
  readonly via: string
  /** When it began, however often it has asked since then. */
  readonly since: number
  /** Called when a newer waiter of the session has come, or stands there already. */
  displaced(): void
}

export const sessionKey = ({ agentId, session }: Pick<Waiter, 'agentId' | 'session'>): string => `${agentId} ${session}`

export class Waiters {
  readonly #bySession = new Map<string, Waiter>()
  readonly #byAgent = new Map<number, Set<Waiter>>()
  /** The last one of an agent to leave. */
  readonly #left = new Map<number, { readonly via: string; readonly at: number }>()

  /** Puts a waiter in the place of an older one of its session. Returns the one of the two that is displaced. */
  add(waiter: Waiter, at: number): Waiter | undefined {
    const other = this.#bySession.get(sessionKey(waiter))
    if (other !== undefined && other.since > waiter.since) return waiter
    if (other !== undefined) this.remove(other, at)
    this.#bySession.set(sessionKey(waiter), waiter)
    const own = this.#byAgent.get(waiter.agentId) ?? new Set()
    this.#byAgent.set(waiter.agentId, own.add(waiter))
    return other
  }

  /** At a time of the monotonic clock. False if it was gone before. */
  remove(waiter: Waiter, at: number): boolean {
    if (this.#bySession.get(sessionKey(waiter)) !== waiter) return false
    this.#bySession.delete(sessionKey(waiter))
    const own = this.#byAgent.get(waiter.agentId)
    own?.delete(waiter)
    if (own?.size === 0) this.#byAgent.delete(waiter.agentId)
    remember(this.#left, waiter.agentId, { via: waiter.via, at })
    return true
  }

  has(of: Pick<Waiter, 'agentId' | 'session'>): boolean {
    return this.#bySession.has(sessionKey(of))
  }

  /** The adapter of an agent's newest waiter, or of one that has left since then: a send ends the waiter that it wakes. */
  viaOf(agentId: number, since = Number.POSITIVE_INFINITY): string | undefined {
    const newest = [...(this.#byAgent.get(agentId) ?? [])].at(-1)
    const left = this.#left.get(agentId)
    return newest?.via ?? (left !== undefined && left.at >= since ? left.via : undefined)
  }

  all(): Waiter[] {
    return [...this.#bySession.values()]
  }
}
