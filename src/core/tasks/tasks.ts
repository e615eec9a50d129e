/** Tasks: calls that go on without their client. They are in the store before anybody is told of them, and survive their process. */
import { HubError } from '../../base/errors.ts'
import { isRunning } from '../../base/processes.ts'
import type { Tx } from '../../db/port.ts'
import {
  countWorking,
  deleteExpiredTasks,
  findTask as findRow,
  insertTask,
  listHeldTasks,
  listTasks as listRows,
  type TaskRow,
  type TaskStatus,
  takeTask,
  updateEnded,
  updateTasksHeld,
} from '../../store/tasks.ts'
import type { Caller } from '../access/callers.ts'
import { runInTurn } from '../hub/batching.ts'
import { commit, itself, type Note } from '../hub/commit.ts'
import { type Hub, onWake, reader } from '../hub/hub.ts'
import { wait } from '../hub/wait.ts'
import { needWaitRoom } from '../hub/waits.ts'

export type { TaskStatus } from '../../store/tasks.ts'

export interface Task {
  readonly id: string
  /** Whose it is: nobody else is told of it. */
  readonly owner: string
  /** By whom it is counted: the agent, wherever it calls from. */
  readonly waiter: string
  readonly door: string
  readonly tool: string
  /** JSON, as are scope and result. */
  readonly args: string
  readonly scope: string
  readonly caller: Caller
  readonly status: TaskStatus
  readonly result: string | undefined
  readonly createdAt: number
  readonly updatedAt: number
  readonly ttlMs: number
}

const toTask = (row: TaskRow): Task => ({
  id: row.id,
  owner: row.owner,
  waiter: row.waiter,
  door: row.door,
  tool: row.tool,
  args: row.args,
  scope: row.scope,
  caller: JSON.parse(row.caller) as Caller,
  status: row.status,
  result: row.result ?? undefined,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  ttlMs: Number(row.ttl_ms),
})

interface NewTask extends Pick<Task, 'id' | 'owner' | 'waiter' | 'door' | 'tool' | 'args' | 'scope' | 'ttlMs'> {
  /** The process that runs it. */
  readonly holder: string
}

/** A holder that is not heard of for this long is taken over from. */
const heldMs = 30_000

const prefix = 'task:'

export async function createTask(hub: Hub, caller: Caller, { ttlMs, ...task }: NewTask): Promise<Task> {
  const now = hub.clock.now()
  const row = {
    ...task,
    caller: JSON.stringify(caller),
    status: 'working' as const,
    created_at: now,
    updated_at: now,
    ttl_ms: ttlMs,
    expires_at: now + ttlMs,
    held_until: now + heldMs,
  }
  needWaitRoom(hub)
  const { waiter } = task
  const count = async (tx: Tx, note: Note) => {
    await deleteExpiredTasks(tx, now)
    if ((await countWorking(tx, waiter)) >= hub.limits.tasksPerAgent) throw tooManyTasks(hub)
    await insertTask(tx, row)
    note({ kind: 'task.created' })
  }
  // One after the other, so that many at once are not all counted before any is there.
  await runInTurn(hub, [prefix + waiter], () => commit(hub, caller, count))
  return toTask({ ...row, result: null })
}

const tooManyTasks = ({ limits: { tasksPerAgent } }: Hub): HubError =>
  new HubError('RATE_LIMITED', `${tasksPerAgent} tasks of this agent are running already. Nothing was done.`, {
    hint: 'Cancel some with tasks/cancel, or call again once some have ended. TASKS_PER_AGENT is the limit; the operator can raise it.',
    retryAfter: 1,
  })

export async function findTask(hub: Hub, _caller: Caller, id: string, owner: string): Promise<Task | undefined> {
  const row = await findRow(reader(hub), { id, owner, now: hub.clock.now() })
  return row && toTask(row)
}

export async function listTasks(
  hub: Hub,
  _caller: Caller,
  { owner, before, limit }: { owner: string; before: string | undefined; limit: number },
): Promise<Task[]> {
  return (await listRows(reader(hub), { owner, before, now: hub.clock.now(), limit })).map(toTask)
}

/** The first end stands: undefined if it has ended before. */
export async function endTask(
  hub: Hub,
  caller: Caller,
  { id, status, result }: { id: string; status: Exclude<TaskStatus, 'working'>; result?: string },
): Promise<Task | undefined> {
  return commit(hub, caller, async (tx, note) => {
    const row = await updateEnded(tx, { id, status, result, now: hub.clock.now() })
    if (row !== undefined) note({ kind: 'task.ended', wakes: [prefix + id] })
    return row && toTask(row)
  })
}

/** The task once it has ended, or as it is when the wait is over. */
export async function awaitTask(
  hub: Hub,
  caller: Caller,
  { id, owner, signals }: { id: string; owner: string; signals: readonly AbortSignal[] },
): Promise<Task | undefined> {
  let task: Task | undefined
  const longest = Number.MAX_SAFE_INTEGER
  const before = await findTask(hub, caller, id, owner)
  const waiting = { channel: prefix + id, ms: 7 * 86_400_000, limitMs: longest, signals, waiter: before?.waiter ?? '' }
  await wait(hub, waiting, async () => {
    task = await findTask(hub, caller, id, owner)
    if (task?.status === 'working') return { again: task.createdAt + task.ttlMs }
    return { found: true }
  })
  return task
}

/** Calls `fn` with the id of each task that ends, in any process. */
export const onTaskEnded = (hub: Hub, fn: (id: string) => void): (() => void) =>
  onWake(
    hub,
    prefix,
    (channel) => fn(channel.slice(prefix.length)),
    () => {},
  )

/** A process says that it still runs its tasks. */
export const holdTasks = (hub: Hub, holder: string): Promise<void> =>
  commit(hub, itself, (tx) => updateTasksHeld(tx, holder, hub.clock.now() + heldMs))

/** A process that stops leaves its tasks to others. */
export const leaveTasks = (hub: Hub, holder: string): Promise<void> =>
  commit(hub, itself, (tx) => updateTasksHeld(tx, holder, 0))

/** The tasks of processes that are gone: from now on this one runs them. */
export async function takeTasks(hub: Hub, holder: string, doors: readonly string[]): Promise<Task[]> {
  const now = hub.clock.now()
  const left = (await listHeldTasks(reader(hub), holder, now)).filter(
    (row) => doors.includes(row.door) && (row.held_until <= now || isRunning(row.holder) === false),
  )
  const taken: Task[] = []
  for (const row of left) {
    const claim = { id: row.id, from: row.holder, holder, until: now + heldMs }
    if (await commit(hub, itself, (tx) => takeTask(tx, claim))) taken.push(toTask(row))
  }
  return taken
}
