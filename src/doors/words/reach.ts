/** Reach in the words of the doors. */
import { z } from 'zod'
import type { Reach } from '../../core/presence/reach.ts'

export const reachShape = z.object({
  state: z.enum(['waiting', 'wakeable', 'active', 'next_turn', 'away', 'never']),
  seen_seconds: z.int().optional(),
  via: z.string().optional(),
  behind: z.int().optional().describe('Unread messages before yours: it is late, not lost.'),
  text: z.string(),
})

export const toReach = ({ state, seenSeconds, via, behind, text }: Reach): z.output<typeof reachShape> => ({
  state,
  ...(seenSeconds !== undefined && { seen_seconds: seenSeconds }),
  ...(via !== undefined && { via }),
  ...(behind !== undefined && { behind }),
  text,
})
