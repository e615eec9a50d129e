/** One look of a follower at the feed: what is new to it, and handing that over, inside the database or outside. */
import { pause } from '../../base/clock.ts'
import type { Reader, Tx } from '../../db/port.ts'
import { findEnd, hasChangesAfter, listChangesAfter, type Recorded } from '../../store/changes.ts'
import { findWatermark, moveWatermark, pruning, upsertWatermark } from '../../store/followers.ts'
import { isBefore, isSame, type Place } from '../../store/places.ts'
import { commit, itself } from './commit.ts'
import { type Hub, reader } from './hub.ts'
import { isWanted, type Turn, takeTurn } from './turns.ts'

/** A projection inside the database. It writes through `tx` alone, and its watermark moves in the same commit. */
export interface InsideFollower {
  readonly name: string
  /** From a wake-up, or a page that was not full, to the look, where that is no hurry: a tenth of a second if left out. */
  readonly gatherMs?: number
  /** How many changes it takes in one commit. */
  readonly page?: number
  /**
   * Each change is handed over once; if its commit does not come about, again. A rebuild reads the tables after the feed
   * and may hold some changes already that are handed over next: taking these in again must do no harm.
   */
  take(tx: Tx, changes: readonly Recorded[]): Promise<void>
  /** There is a gap between it and the feed, or it is new: everything is made anew from the tables. */
  rebuild(tx: Tx): Promise<void>
}

/** A projection outside, which keeps its own watermark with what it wrote. The database is told, so that pruning waits. */
export interface OutsideFollower {
  readonly name: string
  /** Its watermark; undefined if it has none. */
  place(): Promise<Place | undefined>
  /**
   * Keeps `to` as its watermark. After a death before that it is handed the same changes again, and maybe more. Long work
   * calls `turn.goOn()` every few seconds: it throws once another process has taken over.
   */
  take(changes: readonly Recorded[], to: Place, turn: Turn): Promise<void>
  /** There is a gap between it and the feed, or it is new: makes everything anew from the tables, and keeps `to`. */
  rebuild(to: Place, turn: Turn): Promise<void>
}

/** `some`: what there was did not fill a page. `hidden`: there are changes, but an older transaction that is open may come before them. `held`: it is another's turn. */
export type Outcome = 'more' | 'some' | 'done' | 'hidden' | 'held'

type News =
  | { readonly kind: 'none'; readonly hidden: boolean }
  | { readonly kind: 'page'; readonly changes: readonly Recorded[]; readonly to: Place }
  | { readonly kind: 'gap'; readonly to: Place }

/** A page is handed over in one commit. */
const insidePage = 200

/** Whoever writes elsewhere pays for each page with waits for the disk, which senders then wait for too. */
const outsidePage = 500

/** What comes while a page is written shares the next one, if that is not full. */
const gatherMs = 100

/** The database is told at the end, and in between no more often than this: each time, senders wait for the write lock. */
const reportEveryMs = 5000

async function lookFrom(db: Reader, at: Place | undefined, page: number): Promise<News> {
  // Whoever makes everything anew goes on from here: it is read before the tables are, so that nothing falls in between.
  const end = await findEnd(db)
  // Beyond the end is who comes from another database, or from before this one was restored.
  if (at === undefined || isBefore(end, at)) return { kind: 'gap', to: end }
  const changes = await listChangesAfter(db, at, page)
  // Asked after the page was read: changes that were pruned before that do not go unnoticed.
  const pruned = await findWatermark(db, pruning)
  if (pruned !== undefined && isBefore(at, pruned)) {
    // Asked anew: the feed grows. Pruned beyond its end was the feed of another server, of which this database is a copy.
    const to = await findEnd(db)
    if (!isBefore(to, pruned)) return { kind: 'gap', to }
  }
  const last = changes.at(-1)
  if (last === undefined) return { kind: 'none', hidden: await hasChangesAfter(db, at) }
  return { kind: 'page', changes, to: { tx: last.tx, id: last.id } }
}

export async function stepInside(hub: Hub, follower: InsideFollower): Promise<Outcome> {
  const { name, page = insidePage } = follower
  const from = await findWatermark(reader(hub), name)
  const news = await lookFrom(reader(hub), from, page)
  if (news.kind === 'none') return news.hidden ? 'hidden' : 'done'
  await commit(hub, itself, async (tx) => {
    // The first statement is the lock: of two processes with the same page, the second finds the watermark moved.
    if (!(await moveWatermark(tx, { name, from, to: news.to, now: hub.clock.now() }))) return
    await (news.kind === 'gap' ? follower.rebuild(tx) : follower.take(tx, news.changes))
  })
  return follower.gatherMs !== undefined && news.kind === 'page' && news.changes.length < page ? 'some' : 'more'
}

/** Nothing outside can be locked with a row: the work is done in a turn, and in no transaction. */
export async function stepOutside(
  hub: Hub,
  follower: OutsideFollower,
  { holder, signal }: { holder: string; signal: AbortSignal },
): Promise<Outcome> {
  const { name } = follower

  /** The follower's own watermark is asked last: then it is before the reported one only where a rebuild was cut off. */
  async function look() {
    const reported = await findWatermark(reader(hub), name)
    const place = await follower.place()
    // A follower that has reported nothing to this database comes from another, or `deleteForeign` wants it to begin anew.
    const trusted = reported !== undefined && place !== undefined && !isBefore(place, reported)
    return { reported, place, news: await lookFrom(reader(hub), trusted ? place : undefined, outsidePage) }
  }

  const { reported, place, news } = await look()
  if (news.kind === 'none' && isSame(reported, place)) return news.hidden ? 'hidden' : 'done'

  async function run(turn: Turn): Promise<void> {
    for (let toldAt = Number.NEGATIVE_INFINITY; ; ) {
      // Asked anew in every round: until the turn was had, another process may have gone on.
      const { reported, place, news } = await look()
      const last = news.kind === 'none' || (await isWanted(hub, turnName(name)))
      // Before everything is made anew: otherwise pruning would not wait for the end of it.
      const to = news.kind === 'gap' ? news.to : place
      const due = last || news.kind === 'gap' || hub.clock.monotonic() - toldAt >= reportEveryMs
      if (to !== undefined && due && !isSame(to, reported)) {
        await turn.batch((tx) => upsertWatermark(tx, { name, to, now: hub.clock.now() }))
        toldAt = hub.clock.monotonic()
      }
      if (last) return
      await turn.goOn()
      if (news.kind === 'gap') await follower.rebuild(news.to, turn)
      else {
        await follower.take(news.changes, news.to, turn)
        if (news.changes.length < outsidePage) await pause(gatherMs, signal)
      }
    }
  }

  if (await isWanted(hub, turnName(name))) return 'held'
  const taking = { name: turnName(name), holder, everyMs: 0, signal }
  return (await takeTurn(hub, taking, run)) ? 'more' : 'held'
}

/** Makes everything anew, though there is no gap; false if it is another's turn. */
export async function rebuildOutside(
  hub: Hub,
  follower: OutsideFollower,
  { holder, signal }: { holder: string; signal: AbortSignal },
): Promise<boolean> {
  const { name } = follower
  return takeTurn(hub, { name: turnName(name), holder, everyMs: 0, signal }, async (turn) => {
    const to = await findEnd(reader(hub))
    await turn.batch((tx) => upsertWatermark(tx, { name, to, now: hub.clock.now() }))
    await follower.rebuild(to, turn)
  })
}

/** The turn in which a follower works. */
export const turnName = (follower: string): string => `follow ${follower}`
