/** Whose tasks go on: an agent may have only so many at once. */
import type { Migration } from '../migrate.ts'

export const waitingTasks: Migration = {
  id: 17,
  name: 'waiting-tasks',
  up: () => [
    // Apart from owner, which tells one place of a door: an agent may call from several.
    "ALTER TABLE tasks ADD COLUMN waiter TEXT NOT NULL DEFAULT ''",
    "CREATE INDEX tasks_waiter ON tasks (waiter) WHERE status = 'working'",
  ],
}
