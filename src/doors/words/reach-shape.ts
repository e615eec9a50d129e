/** The shape of a reach, for the tools that answer with one; apart, because commands beside the store load no schemas. */
import { z } from 'zod'

export const reachShape = z.object({
  state: z.enum(['waiting', 'wakeable', 'active', 'next_turn', 'away', 'never']),
  seen_seconds: z.int().optional(),
  via: z.string().optional(),
  behind: z.int().optional().describe('Unread messages before yours: it is late, not lost.'),
  text: z.string(),
})
