/** The only waiting in the product: ask; if there is nothing, sleep until a hint or the deadline; ask again. */
import type { Hub } from './hub.ts'

export interface Wait {
  /** What wakes the waiter. */
  topic: string
  /** How long the caller is ready to wait; the hub's own limit holds too. */
  ms: number
  /** Any of them aborted ends the wait with nothing. */
  signals: readonly AbortSignal[]
}

export interface Answer<T> {
  found?: T | undefined
  /** With nothing found: when asking again makes sense without a hint (a lease that ends, say). */
  again?: number | undefined
}

/** The query is the truth, a hint only its occasion: it may be lost or false. A waiter writes nothing while it waits. */
export async function wait<T>(
  hub: Hub,
  { topic, ms, signals }: Wait,
  ask: () => Promise<Answer<T>>,
): Promise<T | undefined> {
  const deadline = hub.clock.now() + Math.min(ms, hub.limits.waitMs)
  let hinted = false
  let rouse = () => {}
  const hint = () => {
    hinted = true
    rouse()
  }
  // Listen before asking: what is committed in between is then not missed.
  const unhook = ms > 0 ? hook(hub, topic, signals, hint) : undefined
  try {
    for (;;) {
      hinted = false
      const answer = await ask()
      if (answer.found !== undefined) return answer.found
      const now = hub.clock.now()
      if (now >= deadline || signals.some((signal) => signal.aborted)) return undefined
      if (hinted) continue
      const until = Math.min(deadline, answer.again ?? deadline)
      await new Promise<void>((resolve) => {
        const cancel = hub.clock.after(Math.max(1, until - now), resolve)
        rouse = () => {
          cancel()
          resolve()
        }
      })
    }
  } finally {
    unhook?.()
  }
}

function hook(hub: Hub, topic: string, signals: readonly AbortSignal[], hint: () => void): () => void {
  const off = hub.wakes.on(topic, hint)
  for (const signal of signals) signal.addEventListener('abort', hint)
  return () => {
    off()
    for (const signal of signals) signal.removeEventListener('abort', hint)
  }
}
