/** Agents of different owners: who owns them, how their keys begin, codes that approve a contact, conversations by subject. */
import type { Migration } from '../migrate.ts'

export const post: Migration = {
  id: 10,
  name: 'post',
  up: (dialect) => [
    'ALTER TABLE agents ADD COLUMN owner_contact TEXT',
    // The beginning of the key, so that its owner can tell one from another.
    'ALTER TABLE agent_keys ADD COLUMN prefix TEXT',

    // A request with a code is approved by whoever brings the code, before its time is up.
    'ALTER TABLE contacts ADD COLUMN code TEXT',
    'ALTER TABLE contacts ADD COLUMN code_expires_at BIGINT',
    'CREATE UNIQUE INDEX contacts_code ON contacts (code) WHERE code IS NOT NULL',

    // The thread of two agents about a subject: found without looking through their mail.
    `CREATE TABLE conversations (
      low_id      BIGINT NOT NULL REFERENCES agents (id),
      high_id     BIGINT NOT NULL REFERENCES agents (id),
      subject_key TEXT NOT NULL,
      thread_id   BIGINT NOT NULL REFERENCES threads (id),
      PRIMARY KEY (low_id, high_id, subject_key)
    )`,
    'CREATE INDEX conversations_thread ON conversations (thread_id)',

    // The session of its own program in which an agent goes on with a thread.
    `CREATE TABLE bridged_threads (
      agent_id    BIGINT NOT NULL REFERENCES agents (id),
      thread_id   BIGINT NOT NULL REFERENCES threads (id),
      session_key TEXT NOT NULL,
      PRIMARY KEY (agent_id, thread_id)
    )`,
    'CREATE INDEX bridged_threads_thread ON bridged_threads (thread_id)',

    // Agents and contacts are numbered; with this their numbers make ids that no other installation has.
    `INSERT INTO meta (key, value) VALUES ('uuid_namespace', ${random[dialect]})`,
  ],
}

const random = { sqlite: 'lower(hex(randomblob(16)))', postgres: "replace(gen_random_uuid()::text, '-', '')" }
