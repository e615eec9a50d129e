/** Rows of `chores`: which process does a piece of housekeeping, until when it may, and when it was last done. */
import sql from 'sql-template-tag'
import type { Reader, Tx } from '../db/port.ts'

export interface ChoreRow {
  name: string
  holder: string
  held_until: number
  done_at: number | null
}

export async function findChore(db: Reader, name: string): Promise<ChoreRow | undefined> {
  const [row] = await db.all<ChoreRow>(sql`SELECT name, holder, held_until, done_at FROM chores WHERE name = ${name}`)
  return row
}

interface ChoreTaking {
  name: string
  holder: string
  now: number
  holdMs: number
  everyMs: number
}

/**
 * Takes a chore that nobody holds and that was not done lately; false if it is held, or done. A time further ahead than
 * possible was written by a wrong clock and does not count.
 */
export async function takeChore(tx: Tx, { name, holder, now, holdMs, everyMs }: ChoreTaking): Promise<boolean> {
  const rows = await tx.all(sql`
    INSERT INTO chores (name, holder, held_until) VALUES (${name}, ${holder}, ${now + holdMs})
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
    WHERE NOT (chores.held_until > ${now} AND chores.held_until <= ${now + holdMs})
      AND NOT (COALESCE(chores.done_at, 0) > ${now - everyMs} AND COALESCE(chores.done_at, 0) <= ${now + everyMs})
    RETURNING name`)
  return rows.length > 0
}

/** Holds a chore for longer; false if another has taken it. On PostgreSQL nobody can take it before the transaction ends. */
export async function updateHeld(
  tx: Tx,
  { name, holder, until }: { name: string; holder: string; until: number },
): Promise<boolean> {
  const rows = await tx.all(sql`
    UPDATE chores SET held_until = ${until} WHERE name = ${name} AND holder = ${holder} RETURNING name`)
  return rows.length > 0
}

/** Lets a chore go, as done or for another to do. */
export async function updateFreed(
  tx: Tx,
  { name, holder, doneAt }: { name: string; holder: string; doneAt: number | undefined },
): Promise<void> {
  await tx.all(sql`
    UPDATE chores SET held_until = 0, done_at = COALESCE(${doneAt ?? null}, done_at)
    WHERE name = ${name} AND holder = ${holder}`)
}

/** Jobs with a running lease, and the last holder of each follower that writes outside of the database. */
export function listTakenChores(db: Reader, now: number): Promise<ChoreRow[]> {
  return db.all<ChoreRow>(sql`
    SELECT name, holder, held_until, done_at FROM chores WHERE held_until > ${now} OR name LIKE 'follow %' ORDER BY name`)
}
