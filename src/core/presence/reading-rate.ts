/** How fast an agent with unread mail reads: from the messages that it read last, asked now and then. */
import { listReadTimes } from '../../store/messages/reach.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'

/** A sender that writes a hundred messages pays for one look. */
const keptMs = 10_000

/** Of a message to many, the first few that are behind are looked at. */
const mostAsked = 10

const sampled = 10

/** Fewer say nothing. */
const fewest = 3

/** An agent that has read nothing for longer is away, whatever its pace was. */
const lately = 3_600_000

const kept = memory(() => new Map<number, { readonly words: string | undefined; readonly at: number }>())

/** "about 4 a minute", by the ids of the agents; those of whom nothing is known are missing. */
export async function readingRates(hub: Hub, agentIds: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const rates = new Map<number, string>()
  const now = hub.clock.now()
  for (const id of agentIds.slice(0, mostAsked)) {
    const known = kept(hub).get(id)
    const fresh = known !== undefined && now - known.at < keptMs
    const words = fresh ? known.words : rateOf(await listReadTimes(reader(hub), id, sampled), now)
    if (!fresh) remember(kept(hub), id, { words, at: now })
    if (words !== undefined) rates.set(id, words)
  }
  return rates
}

/** Until now, and not until the last one was read: a reader that has stopped becomes slower. */
function rateOf(times: readonly number[], now: number): string | undefined {
  if (times.length < fewest || now - Math.max(...times) > lately) return undefined
  const minutes = Math.max(now - Math.min(...times), 1000) / 60_000
  const aMinute = times.length / minutes
  return aMinute >= 0.75
    ? `about ${Math.round(aMinute)} a minute`
    : `about ${Math.max(1, Math.round(aMinute * 60))} an hour`
}
