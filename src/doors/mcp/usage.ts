/** How the tools of this process are used: how often, how well, and the last calls. In memory only; never a body. */
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { Outcome } from '../../base/metrics.ts'

interface ToolUse {
  readonly door: string
  readonly name: string
  readonly cluster: string
  calls: number
  errors: number
}

export interface Call {
  readonly tool: ToolUse
  readonly at: number
  readonly ms: number
  readonly outcome: Outcome
  readonly project: string | undefined
  readonly agent: string | undefined
}

export class Usage {
  /** Whether calls are noted one by one, or only counted. */
  readonly noting: boolean
  readonly #size: number
  readonly #tools: ToolUse[] = []
  readonly #ring: Call[] = []
  #next = 0

  constructor({ noting, size = 1000 }: { noting: boolean; size?: number }) {
    this.noting = noting
    this.#size = size
  }

  /** Begins to count a tool. The caller keeps the row: looking it up would cost more than adding one. */
  count(door: string, name: string, cluster: string): ToolUse {
    const use = { door, name, cluster, calls: 0, errors: 0 }
    this.#tools.push(use)
    return use
  }

  note(call: Call): void {
    if (!this.noting) return
    this.#ring[this.#next] = call
    this.#next = (this.#next + 1) % this.#size
  }

  tools(door?: string): readonly ToolUse[] {
    return door === undefined ? this.#tools : this.#tools.filter((use) => use.door === door)
  }

  /** The newest first. */
  calls(): Call[] {
    return [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)].reverse()
  }
}

const longest = 256

/** Characters that a terminal would obey, or a reader of lines take for the end of one. */
const unseen = /[\p{C}\p{Zl}\p{Zp}]/gu

/** The kept part of a text from outside. A cut one is copied: a slice would keep the whole text in memory. */
export function briefly(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = value.length <= longest ? value : Buffer.from(value.slice(0, longest)).toString()
  return text.replace(unseen, '\ufffd')
}

/** A timer that should take longer goes off at once. */
const longestWait = 2 ** 31 - 1

/** Logs every `ms` how often each tool that was ever called was called and failed, until the returned function is called. */
export function emitUsage(usage: Usage, { clock, log, ms }: { clock: Clock; log: Log; ms: number }): () => void {
  const wait = Math.min(ms, longestWait)
  const emit = () => {
    const tools = usage
      .tools()
      .filter(({ calls }) => calls > 0)
      .map(({ door, name, cluster, calls, errors }) => ({ name, cluster, calls, errors, door }))
    log.info({ event: 'tool_metrics_snapshot', tools }, 'tool_metrics_snapshot')
    cancel = clock.after(wait, emit)
  }
  let cancel = clock.after(wait, emit)
  return () => cancel()
}
