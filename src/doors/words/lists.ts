/** Lists in an answer: whether there is more than they show, and how to go on (all.lists.more). */
import { z } from 'zod'

/** The fields beside every list. */
export const more = { has_more: z.boolean(), note: z.string().optional() }

/** A list that is all of an answer stands under `result` (all.result.wrapped). */
export const listShape = <Item extends z.ZodType>(item: Item) => z.object({ result: z.array(item), ...more })
