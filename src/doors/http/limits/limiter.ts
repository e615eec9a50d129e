/** How often a caller may call: a token bucket each, in the memory of this process. */
import type { Clock } from '../../../base/clock.ts'

/** Calls of tools, reads of resources, and everything else, each counted for itself. */
export type Counted = 'tools' | 'resources' | 'requests'

export interface Rate {
  /** 0 is no limit. */
  readonly perMinute: number
  /** As many at once, after a time of silence. */
  readonly burst: number
}

export type Rates = Readonly<Record<Counted, Rate>>

export interface Limiter {
  /** Milliseconds until the caller may try again; 0 if it may go on. A promise only where another machine counts. */
  take(who: string, of: Counted): number | Promise<number>
  close(): void
}

interface Bucket {
  tokens: number
  at: number
}

/** Many times the callers of one hub. Whoever is forgotten begins with a full bucket. */
const mostBuckets = 10_000

export const perMs = ({ perMinute }: Rate): number => perMinute / 60_000

export function inMemory(rates: Rates, clock: Clock): Limiter & { take(who: string, of: Counted): number } {
  const buckets: Readonly<Record<Counted, Map<string, Bucket>>> = {
    tools: new Map(),
    resources: new Map(),
    requests: new Map(),
  }
  return {
    take(who, of) {
      const rate = rates[of]
      if (rate.perMinute === 0) return 0
      const now = clock.monotonic()
      const bucket = buckets[of].get(who) ?? open(buckets[of], who, { tokens: rate.burst, at: now })
      bucket.tokens = Math.min(rate.burst, bucket.tokens + (now - bucket.at) * perMs(rate))
      bucket.at = now
      if (bucket.tokens < 1) return (1 - bucket.tokens) / perMs(rate)
      bucket.tokens--
      return 0
    },
    close() {},
  }
}

function open(buckets: Map<string, Bucket>, who: string, bucket: Bucket): Bucket {
  if (buckets.size >= mostBuckets) for (const oldest of buckets.keys()) if (buckets.delete(oldest)) break
  buckets.set(who, bucket)
  return bucket
}
