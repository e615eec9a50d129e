/** Lists in an answer: whether there is more than they show, and how to go on (all.lists.more). */
import { z } from 'zod'

/** The fields beside every list. */
export const more = { has_more: z.boolean(), note: z.string().optional() }

/** Beside the hits of a search that found more: there are no pages of hits, so a narrower search is the way to the others. */
export function furtherHits({ more, limit, most }: { more: boolean; limit: number; most: number }): { note?: string } {
  if (!more) return {}
  const further = limit < most ? 'Pass a higher limit for more, or narrow' : 'For the others narrow'
  return { note: `${further} the query, e.g. by from: or thread:.` }
}

/** A list that is all of an answer stands under `result` (all.result.wrapped). */
export const listShape = <Item extends z.ZodType>(item: Item) => z.object({ result: z.array(item), ...more })
