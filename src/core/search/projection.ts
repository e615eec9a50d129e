/** Keeps the search index up to date with the messages: before each search, and quietly in between. */
import { pause } from '../../base/clock.ts'
import type { Tx } from '../../db/port.ts'
import {
  countUnindexed,
  findNewest,
  findUnmerged,
  indexNext as indexMore,
  mergeNext,
  resetNext,
} from '../../store/search/search.ts'
import { commit, itself } from '../hub/commit.ts'
import { countCommits, type Hub, reader } from '../hub/hub.ts'
import { keepLooking } from '../hub/keep-looking.ts'
import { memory } from '../hub/memory.ts'

/**
 * On SQLite a step is a commit of at most 32 messages or 16 KB and takes some 2 ms of the process's only writer; a send waits for
 * one step at most. The first steps of a fill follow each other, since 8 of them are the 256 messages that a search may find
 * after a burst. Each later one is followed by a pause, so that sends have half of the time however long the fill is.
 */
const stepsWithoutPause = 8
const pauseMs = 2

/** Each step is a small commit of its own, and may be the last: the next process goes on from there. */
const take = <Done>(hub: Hub, step: (tx: Tx) => Promise<Done>): Promise<Done> =>
  commit(hub, itself, step, { repeatable: true })

/** All waiters for the index of a hub share the step that runs and the pause after it, lest one commit hold many of them. */
const fills = memory((): { running?: Promise<boolean> | undefined; steps: number } => ({ steps: 0 }))

/** Takes the next step, if messages up to this one cannot be found yet. */
async function indexNext(hub: Hub, newest: number): Promise<boolean> {
  const unindexed = await countUnindexed(reader(hub), newest)
  const fill = fills(hub)
  if (unindexed === 0) {
    fill.steps = 0
    return false
  }
  fill.running ??= indexThenPause(hub, ++fill.steps).finally(() => {
    fill.running = undefined
  })
  return fill.running
}

async function indexThenPause(hub: Hub, steps: number): Promise<boolean> {
  const found = await take(hub, indexMore)
  if (found && steps > stepsWithoutPause) await pause(pauseMs)
  return found
}

/** Returns when all that was committed before the call can be found. */
export async function catchUp(hub: Hub): Promise<void> {
  const newest = await findNewest(reader(hub))
  while (await indexNext(hub, newest));
}

/** Makes the index anew, from the messages alone. Searches that come meanwhile wait until it is whole. */
export async function rebuildSearch(hub: Hub): Promise<void> {
  for (let reached: number | undefined = 0; reached !== undefined; ) {
    const from: number = reached
    reached = await take(hub, (tx) => resetNext(tx, from))
  }
  await fillSearch(hub)
}

/** Brings the index up to date, in as few pieces as it can be. */
export async function fillSearch(hub: Hub): Promise<void> {
  await catchUp(hub)
  while (await take(hub, mergeNext)) await pause(pauseMs)
}

/** How long after a commit the index looks for work, and between two steps while others are at work. */
const afterCommitMs = 1000
const whileBusyMs = 200

/** Between two tries that fail. */
const longestPauseMs = 60_000

/**
 * Catches up between searches, so that none finds much to do, until the returned function is called. While messages
 * keep coming it takes about a fiftieth of the time; the rest is done when they cease. Every process may do this: the
 * one that looks first does the work.
 */
export function keepSearchable(hub: Hub): () => Promise<void> {
  let seen = countCommits(hub)

  /** One step of work, if there is any. Looking for it takes no lock. */
  async function workOn(): Promise<boolean> {
    if (await indexNext(hub, await findNewest(reader(hub)))) return true
    return (await findUnmerged(reader(hub))) !== undefined && (await take(hub, mergeNext))
  }

  const { stop } = keepLooking(hub, {
    channels: '',
    gatherMs: afterCommitMs,
    firstMs: afterCommitMs,
    backOff: { firstMs: afterCommitMs, longestMs: longestPauseMs, wakesShorten: true },
    failure: 'the search index could not be brought up to date; it is tried again',
    async look({ isWoken }) {
      // Every commit counts, also one that wakes nobody. One or two since the last look were our own.
      const others = countCommits(hub) - seen > 2
      seen = countCommits(hub)
      if (!(await workOn())) return 'rest'
      return { inMs: others || isWoken() ? whileBusyMs : pauseMs }
    },
  })
  return stop
}
