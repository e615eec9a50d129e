/** Reach in the words of the doors. */
import type { Reach } from '../../core/presence/reach.ts'

export const toReach = ({ state, seenSeconds, via, behind, text }: Reach) => ({
  state,
  ...(seenSeconds !== undefined && { seen_seconds: seenSeconds }),
  ...(via !== undefined && { via }),
  ...(behind !== undefined && { behind }),
  text,
})
