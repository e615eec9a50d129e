/** Wrong guesses at secrets, which every process and node counts together. */
import type { Migration } from '../migrate.ts'

export const guesses: Migration = {
  id: 18,
  name: 'guesses',
  up: () => [
    // times: the wrong guesses of the last minute, as [[at, count], …]. From expires_at on the row says nothing any more.
    `CREATE TABLE guesses (
      guesser    TEXT PRIMARY KEY,
      times      TEXT NOT NULL,
      expires_at BIGINT NOT NULL
    )`,
    'CREATE INDEX guesses_expires ON guesses (expires_at)',
  ],
}
