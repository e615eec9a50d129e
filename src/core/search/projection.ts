/** Keeps the search index up to date with the messages: before each search, and quietly in between. */
import { countUnindexed, findNewest, findUnmerged, searchSteps } from '../../store/search.ts'
import { type Step, work } from '../../store/search-steps.ts'
import { commitStep } from '../hub/commit.ts'
import { countCommits, type Hub, onWake, reader } from '../hub/hub.ts'
import { memory } from '../hub/memory.ts'

/**
 * With as many messages to go, a step is one of a long series, which would hold up everybody again and again. A few are indexed
 * sooner than a thread is started.
 */
const longSeries = 1000

/** Each step is a small commit of its own, and may be the last: the next process goes on from there. */
const take = (hub: Hub, step: Step, long = true) => commitStep(hub, { module: searchSteps, work, long }, step)

/** All waiters for the index of a hub share the step that runs, lest one commit hold many of them. */
const steps = memory((): { running?: Promise<boolean> | undefined; long: boolean } => ({ long: false }))

/** Takes the next step, if messages up to this one cannot be found yet. A series ends where it began: in this thread its last steps would be code that is not compiled. */
async function indexNext(hub: Hub, newest: number): Promise<boolean> {
  const unindexed = await countUnindexed(reader(hub), newest)
  const kept = steps(hub)
  kept.long = unindexed >= longSeries || (kept.long && unindexed > 0)
  if (unindexed === 0) return false
  kept.running ??= take(hub, 'index', kept.long)
    .then((found) => found === true)
    .finally(() => {
      kept.running = undefined
    })
  return kept.running
}

/** Returns when all that was committed before the call can be found. */
export async function catchUp(hub: Hub): Promise<void> {
  const newest = await findNewest(reader(hub))
  while (await indexNext(hub, newest));
}

/** Makes the index anew, from the messages alone. Searches that come meanwhile wait until it is whole. */
export async function rebuildSearch(hub: Hub): Promise<void> {
  for (let reached: boolean | number | undefined = 0; typeof reached === 'number'; )
    reached = await take(hub, { resetFrom: reached })
  await fillSearch(hub)
}

/** Brings the index up to date, in as few pieces as it can be. */
export async function fillSearch(hub: Hub): Promise<void> {
  await catchUp(hub)
  while (await take(hub, 'merge'));
}

/** How long after a commit the index looks for work, and between two steps while others are at work. */
const afterCommitMs = 1000
const whileBusyMs = 200

/**
 * Catches up between searches, so that none finds much to do, until the returned function is called. While messages
 * keep coming it takes about a fiftieth of the time; the rest is done when they cease. Every process may do this: the
 * one that looks first does the work.
 */
export function keepSearchable(hub: Hub): () => Promise<void> {
  let stopped = false
  let busy = false
  let seen = countCommits(hub)
  let cancel: (() => void) | undefined
  let looking: Promise<void> | undefined

  const lookIn = (ms: number) => {
    if (stopped) return
    cancel?.()
    cancel = hub.clock.after(ms, () => {
      cancel = undefined
      looking ??= look().finally(() => {
        looking = undefined
      })
    })
  }

  async function look(): Promise<void> {
    // Every commit counts, also one that wakes nobody. One or two since the last look were our own.
    const others = countCommits(hub) - seen > 2
    seen = countCommits(hub)
    busy = false
    try {
      const more = await workOn()
      if (more || busy) lookIn(more ? (busy || others ? whileBusyMs : 0) : afterCommitMs)
    } catch (error) {
      hub.log.warn({ err: error }, 'the search index could not be brought up to date; the next search tries again')
    }
  }

  /** One step of work, if there is any. Looking for it takes no lock. */
  async function workOn(): Promise<boolean> {
    if (await indexNext(hub, await findNewest(reader(hub)))) return true
    return (await findUnmerged(reader(hub))) !== undefined && (await take(hub, 'merge')) === true
  }

  const stir = () => {
    busy = true
    if (cancel === undefined && looking === undefined) lookIn(afterCommitMs)
  }
  const unwatch = onWake(hub, '', stir, stir)
  lookIn(afterCommitMs)
  return async () => {
    stopped = true
    unwatch()
    cancel?.()
    await looking
  }
}
