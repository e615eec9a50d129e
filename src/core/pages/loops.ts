/** Pauses of the loop guard, as people see and end them. */
import { HubError } from '../../base/errors.ts'
import type { Reader, Tx } from '../../db/port.ts'
import {
  findLoopThread,
  listLatestSenders,
  listNamesOf,
  listPausedPairs,
  listPausedThreads,
  listUnreadOf,
  pausePair,
  pauseThread,
  resumePair,
  resumeThread,
} from '../../store/messages/loops.ts'
import type { Caller } from '../access/callers.ts'
import { mayRoam, needSteering } from '../access/rules.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { lookAgain, loopsChanged } from '../messages/loops.ts'
import { slugOfProject } from '../projects/projects.ts'

export interface Loop {
  /** `thread-12` or `pair-3-7`. */
  readonly id: string
  /** The name of the thread; undefined of a pair, which is paused in all threads. */
  readonly thread: string | undefined
  readonly project: string
  readonly agents: readonly string[]
  readonly pausedAt: number
}

/** How many messages back the agents of a loop are looked for. */
const newest = 10

/** Threads and pairs whose waking is paused, the latest first; the holder of a key is told of none. */
export async function listLoops(hub: Hub, caller: Caller): Promise<Loop[]> {
  if (!mayRoam(caller)) return []
  const db = reader(hub)
  const loops: Loop[] = []
  const threads = await listPausedThreads(db)
  const ids = threads.map(({ thread_id }) => thread_id)
  const senders = Map.groupBy(await listLatestSenders(db, ids, newest), ({ thread_id }) => thread_id)
  for (const { thread_id, called: thread, project_id, paused_at: pausedAt } of threads) {
    const agents = (senders.get(thread_id) ?? []).map(({ name }) => name).sort()
    loops.push({ id: `thread-${thread_id}`, thread, project: await slugOfProject(hub, project_id), agents, pausedAt })
  }
  for (const { low_id, high_id, low, high, project_id, paused_at: pausedAt } of await listPausedPairs(db)) {
    const project = await slugOfProject(hub, project_id)
    loops.push({ id: `pair-${low_id}-${high_id}`, thread: undefined, project, agents: [low, high].sort(), pausedAt })
  }
  return loops.sort((a, b) => b.pausedAt - a.pausedAt)
}

/** Lets wakes go on, counted from zero. */
export async function resumeLoop(hub: Hub, caller: Caller, id: string): Promise<Loop> {
  needSteering(caller)
  const loop = (await listLoops(hub, caller)).find(
    (one) => one.id === id || (one.thread !== undefined && one.thread === id),
  )
  if (loop === undefined)
    throw new HubError('NOT_FOUND', `No pause is called ${JSON.stringify(id)}.`, {
      hint: 'Name the id of a pause, or its thread, as they are listed.',
    })
  const { pair, low, high } = partsOf(loop.id)
  await change(hub, caller, loop.id, (tx) => (pair ? resumePair(tx, low, high) : resumeThread(tx, low)))
  return loop
}

/** Takes a resumption back. */
export async function pauseAgain(hub: Hub, caller: Caller, id: string): Promise<void> {
  needSteering(caller)
  const { pair, low, high } = partsOf(id)
  const now = hub.clock.now()
  await change(hub, caller, id, (tx) => (pair ? pausePair(tx, low, high, now) : pauseThread(tx, low, now)))
}

function partsOf(id: string): { readonly pair: boolean; readonly low: number; readonly high: number } {
  const [low = 0, high = 0] = id.replace(/^\D+/, '').split('-').map(Number)
  return { pair: id.startsWith('pair-'), low, high }
}

async function change(hub: Hub, caller: Caller, id: string, work: (tx: Tx) => Promise<unknown>): Promise<void> {
  await commit(hub, caller, async (tx, note) => {
    await work(tx)
    const { pair, low, high } = partsOf(id)
    note(loopsChanged(await projectOf(tx, id), pair ? [low, high] : await listUnreadOf(tx, low)))
  })
  lookAgain(hub)
}

/** The project that its pages are told of. */
async function projectOf(db: Reader, id: string): Promise<number> {
  const { pair, low } = partsOf(id)
  if (!pair) return (await findLoopThread(db, low))?.project_id ?? 0
  return (await listNamesOf(db, [low]))[0]?.project_id ?? 0
}
