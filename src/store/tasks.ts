/** Rows of `tasks`: calls that go on without their client, and who runs each. */
import sql, { empty } from 'sql-template-tag'
import type { Reader, Tx } from '../db/port.ts'

export type TaskStatus = 'working' | 'completed' | 'failed' | 'cancelled'

export interface TaskRow {
  id: string
  owner: string
  waiter: string
  door: string
  tool: string
  args: string
  caller: string
  scope: string
  status: TaskStatus
  result: string | null
  created_at: number
  updated_at: number
  ttl_ms: number
  expires_at: number
  holder: string
}

const columns = sql`id, owner, waiter, door, tool, args, caller, scope, status, result, created_at, updated_at, ttl_ms, expires_at,
  holder`

export async function insertTask(tx: Tx, task: Omit<TaskRow, 'result'> & { held_until: number }): Promise<void> {
  await tx.all(sql`
    INSERT INTO tasks (id, owner, waiter, door, tool, args, caller, scope, status, created_at, updated_at, ttl_ms, expires_at,
      holder, held_until)
    VALUES (${task.id}, ${task.owner}, ${task.waiter}, ${task.door}, ${task.tool}, ${task.args}, ${task.caller}, ${task.scope},
      ${task.status}, ${task.created_at}, ${task.updated_at}, ${task.ttl_ms}, ${task.expires_at}, ${task.holder},
      ${task.held_until})`)
}

/** How many of a waiter's tasks go on. */
export async function countWorking(tx: Tx, waiter: string): Promise<number> {
  const [row] = await tx.all<{ count: number }>(
    sql`SELECT COUNT(*) AS count FROM tasks WHERE waiter = ${waiter} AND status = 'working'`,
  )
  return Number(row?.count ?? 0)
}

/** One whose time is up is gone, deleted or not. */
export async function findTask(
  db: Reader,
  { id, owner, now }: { id: string; owner: string; now: number },
): Promise<TaskRow | undefined> {
  const [row] = await db.all<TaskRow>(sql`
    SELECT ${columns} FROM tasks WHERE id = ${id} AND owner = ${owner} AND expires_at > ${now}`)
  return row
}

/** The newest first: ids sort by the time they were made. */
export function listTasks(
  db: Reader,
  { owner, before, now, limit }: { owner: string; before: string | undefined; now: number; limit: number },
): Promise<TaskRow[]> {
  return db.all<TaskRow>(sql`
    SELECT ${columns} FROM tasks WHERE owner = ${owner} AND expires_at > ${now}
      ${before === undefined ? empty : sql`AND id < ${before}`} ORDER BY id DESC LIMIT ${limit}`)
}

/** Ends a task that works; undefined if it has ended before. */
export async function updateEnded(
  tx: Tx,
  { id, status, result, now }: { id: string; status: TaskStatus; result: string | undefined; now: number },
): Promise<TaskRow | undefined> {
  const [row] = await tx.all<TaskRow>(sql`
    UPDATE tasks SET status = ${status}, result = ${result ?? null}, updated_at = ${now}
    WHERE id = ${id} AND status = 'working' RETURNING ${columns}`)
  return row
}

export async function updateTasksHeld(tx: Tx, holder: string, until: number): Promise<void> {
  await tx.all(sql`UPDATE tasks SET held_until = ${until} WHERE holder = ${holder} AND status = 'working'`)
}

/** Working tasks of which nobody has been heard for long enough, and those of other holders. */
export function listHeldTasks(db: Reader, holder: string, now: number): Promise<(TaskRow & { held_until: number })[]> {
  return db.all(sql`
    SELECT ${columns}, held_until FROM tasks WHERE status = 'working' AND holder <> ${holder} AND expires_at > ${now}
    ORDER BY held_until LIMIT 1000`)
}

/** Takes over a task; false if another was first. */
export async function takeTask(
  tx: Tx,
  { id, from, holder, until }: { id: string; from: string; holder: string; until: number },
): Promise<boolean> {
  const rows = await tx.all(sql`
    UPDATE tasks SET holder = ${holder}, held_until = ${until}
    WHERE id = ${id} AND holder = ${from} AND status = 'working' RETURNING id`)
  return rows.length > 0
}

export async function deleteExpiredTasks(tx: Tx, now: number): Promise<void> {
  await tx.all(sql`DELETE FROM tasks WHERE expires_at <= ${now}`)
}
