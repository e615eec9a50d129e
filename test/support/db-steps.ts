/** Two small migrations, for tests of how migrations are applied. */
import { identity } from '../../src/db/dialect.ts'
import type { Migration } from '../../src/db/migrate.ts'

export const steps: readonly Migration[] = [
  { id: 1, name: 'rooms', up: (dialect) => [`CREATE TABLE rooms (id ${identity(dialect)}, name TEXT NOT NULL)`] },
  {
    id: 2,
    name: 'guests',
    up: (dialect) => [
      `CREATE TABLE guests (id ${identity(dialect)}, room_id BIGINT NOT NULL REFERENCES rooms (id))`,
      "INSERT INTO rooms (name) VALUES ('hall')",
    ],
  },
]
