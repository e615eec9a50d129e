/** Rows of `guesses`: when somebody last guessed wrong at a secret. */
import sql from 'sql-template-tag'
import { skipLocked } from '../../db/dialect.ts'
import type { Tx } from '../../db/port.ts'

/** How many wrong guesses there were at a time. */
export type Times = readonly (readonly [at: number, count: number])[]

/** Locked until the transaction ends, also where there was no row before: guesses of one guesser come one after the other. */
export async function lockGuesses(tx: Tx, guesser: string): Promise<Times> {
  const [row] = await tx.all<{ times: string }>(sql`
    INSERT INTO guesses (guesser, times, expires_at) VALUES (${guesser}, '[]', 0)
    ON CONFLICT (guesser) DO UPDATE SET expires_at = guesses.expires_at RETURNING times`)
  return JSON.parse(row?.times ?? '[]') as Times
}

export async function updateGuesses(tx: Tx, guesser: string, times: Times, expiresAt: number): Promise<void> {
  await tx.change(sql`
    UPDATE guesses SET times = ${JSON.stringify(times)}, expires_at = ${expiresAt} WHERE guesser = ${guesser}`)
}

/** Passes over rows that others are counting in: two who waited for each other's would wait for ever. */
export async function deleteOldGuesses(tx: Tx, now: number): Promise<void> {
  await tx.change(sql`
    DELETE FROM guesses WHERE guesser IN (
      SELECT guesser FROM guesses WHERE expires_at <= ${now} LIMIT 100 ${skipLocked(tx)})`)
}
