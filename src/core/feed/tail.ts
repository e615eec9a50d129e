/** The tail of the feed: one loop a process reads new changes once, in a safe order, for all who want to hear of them as they come. */
import { type FeedRow, findEnd, listFeedAfter } from '../../store/feed/changes.ts'
import { type FeedPosition, isBefore, start } from '../../store/feed/positions.ts'
import { type Hub, onClose, reader } from '../hub/hub.ts'
import { keepLooking, type Loop, type Next, type Occasion } from '../hub/keep-looking.ts'
import { memory } from '../hub/memory.ts'

/** A live view of the feed, in this process alone: it begins at the end, and what it has heard is forgotten with it. */
export interface TailReader {
  /** The last change that it was handed. The tail sets it, first when the reader joins. */
  position: FeedPosition
  /** Handed each change once, in the order of the feed; where it rejects, again. All changes behind wait for it. */
  take(change: FeedRow): Promise<void> | void
}

const page = 200

/** Changes that an open transaction may come before are looked for again: soon at first, then less often. */
const backOff = { firstMs: 2, longestMs: 250, wakesShorten: true }

/** A process that dies right after its commit announces nothing. */
const anywayMs = 10_000

/** Reads while there are readers. */
class Tail {
  readonly #hub: Hub
  readonly #readers = new Set<TailReader>()
  #position = start
  #begun: Promise<void> | undefined
  #loop: Loop | undefined
  /** Settled when the last loop has ended. */
  #ended = Promise.resolve()

  constructor(hub: Hub) {
    this.#hub = hub
    onClose(hub, async () => this.#loop?.stop())
  }

  async join(one: TailReader): Promise<() => void> {
    for (let begun: Promise<void> | undefined; begun === undefined || begun !== this.#begun; ) {
      this.#begun ??= this.#begin()
      begun = this.#begun
      // Meanwhile the last of the others may leave, and end it.
      await begun
    }
    one.position = this.#position
    this.#readers.add(one)
    return () => {
      if (this.#readers.delete(one) && this.#readers.size === 0) this.#end()
    }
  }

  async #begin(): Promise<void> {
    await this.#ended
    // Listen before asking: what is committed in between is then not missed.
    this.#loop = keepLooking(this.#hub, {
      channels: '',
      gatherMs: 0,
      anywayMs,
      firstMs: anywayMs,
      backOff,
      failure: 'the feed could not be read for live views; it is tried again',
      look: (occasion) => this.#look(occasion),
    })
    try {
      this.#position = await findEnd(reader(this.#hub))
    } catch (error) {
      this.#end()
      throw error
    }
  }

  #end(): void {
    this.#begun = undefined
    this.#ended = this.#loop?.stop() ?? this.#ended
  }

  async #look({ signal }: Occasion): Promise<Next> {
    await this.#begun
    for (;;) {
      const changes = await listFeedAfter(reader(this.#hub), this.#position, page)
      for (const change of changes) {
        if (signal.aborted) return 'over'
        if (change.settled === 0) return 'blocked'
        await this.#hand(change)
      }
      if (changes.length < page) return 'rest'
    }
  }

  async #hand(change: FeedRow): Promise<void> {
    const position = { tx: change.tx, id: change.id }
    for (const one of this.#readers) {
      if (!isBefore(one.position, position)) continue
      await one.take(change)
      one.position = position
    }
    this.#position = position
  }
}

const tails = memory((hub) => new Tail(hub))

/** Resolves once every change that is committed from then on will be handed over; the returned function ends it. */
export const joinTail = (hub: Hub, one: TailReader): Promise<() => void> => tails(hub).join(one)
