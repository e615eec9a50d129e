/** The loop guard: agents that were woken, threads and pairs whose waking is paused, and how long each chain of woken messages is. */
import type { Migration } from '../migrate.ts'

export const loops: Migration = {
  id: 30,
  name: 'loops',
  up: () => [
    // How many woken messages in a row end with this one; 0 for all others, which write nothing here.
    'ALTER TABLE messages ADD COLUMN hops INTEGER NOT NULL DEFAULT 0',
    'CREATE TABLE woken_agents (agent_id BIGINT PRIMARY KEY, since BIGINT NOT NULL)',
    // from_seq: messages up to this one count no more.
    'CREATE TABLE loop_threads (thread_id BIGINT PRIMARY KEY, from_seq BIGINT NOT NULL, paused_at BIGINT)',
    `CREATE TABLE loop_pairs (
      low_id    BIGINT NOT NULL,
      high_id   BIGINT NOT NULL,
      since     BIGINT NOT NULL,
      woken     INTEGER NOT NULL,
      paused_at BIGINT,
      PRIMARY KEY (low_id, high_id)
    )`,
  ],
}
