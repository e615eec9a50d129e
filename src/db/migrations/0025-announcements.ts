/** Announcements: which mail an agent was told of, by which route, and whether a turn of it has confirmed that. */
import type { Migration } from '../migrate.ts'

export const announcements: Migration = {
  id: 25,
  name: 'announcements',
  up: () => [
    // One a delivery: the route that comes first takes it. A message that was read, or is gone, leaves its row to be swept.
    `CREATE TABLE announcements (
      delivery_id  BIGINT PRIMARY KEY,
      agent_id     BIGINT NOT NULL,
      session      TEXT NOT NULL,
      via          TEXT NOT NULL,
      announced_at BIGINT NOT NULL,
      tries        INTEGER NOT NULL,
      confirmed_at BIGINT,
      reminded     INTEGER NOT NULL DEFAULT 0
    )`,
    'CREATE INDEX announcements_agent ON announcements (agent_id, announced_at)',
  ],
}
