/** The first tables: projects, agents, threads, messages, deliveries, the feed of changes, ended sessions. */
import { identity } from '../dialect.ts'
import type { Migration } from '../migrate.ts'

export const mailbox: Migration = {
  id: 1,
  name: 'mailbox',
  up: (dialect, now) => [
    `CREATE TABLE projects (
      id         ${identity(dialect)},
      slug       TEXT NOT NULL UNIQUE,
      human_key  TEXT NOT NULL UNIQUE,
      created_at BIGINT NOT NULL
    )`,
    // The project of all who name none.
    `INSERT INTO projects (slug, human_key, created_at) VALUES ('commons', 'commons', ${now})`,

    // unread is kept in the row because counting it would cost a scan of the mailbox with every send.
    `CREATE TABLE agents (
      id         ${identity(dialect)},
      project_id BIGINT NOT NULL REFERENCES projects (id),
      name       TEXT NOT NULL,
      name_key   TEXT NOT NULL,
      unread     BIGINT NOT NULL DEFAULT 0,
      created_at BIGINT NOT NULL,
      UNIQUE (project_id, name_key)
    )`,

    // next_seq is the locked counter from which a thread's order comes (bus.message.seq).
    `CREATE TABLE threads (
      id         ${identity(dialect)},
      uid        TEXT NOT NULL UNIQUE,
      project_id BIGINT NOT NULL REFERENCES projects (id),
      next_seq   BIGINT NOT NULL,
      created_at BIGINT NOT NULL
    )`,

    `CREATE TABLE messages (
      id         ${identity(dialect)},
      uid        TEXT NOT NULL UNIQUE,
      thread_id  BIGINT NOT NULL REFERENCES threads (id),
      seq        BIGINT NOT NULL,
      sender_id  BIGINT NOT NULL REFERENCES agents (id),
      client_id  TEXT,
      body       TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      UNIQUE (thread_id, seq)
    )`,

    // The names that senders gave to their messages: one row for each sender, recipient and name makes a retry harmless.
    `CREATE TABLE client_ids (
      recipient_id BIGINT NOT NULL REFERENCES agents (id),
      client_id    TEXT NOT NULL,
      sender_id    BIGINT NOT NULL REFERENCES agents (id),
      message_id   BIGINT NOT NULL REFERENCES messages (id),
      PRIMARY KEY (recipient_id, client_id, sender_id)
    )`,

    // hold: the token of the last taker of the message; held_until: when the loan of it ends.
    `CREATE TABLE deliveries (
      id           ${identity(dialect)},
      message_id   BIGINT NOT NULL REFERENCES messages (id),
      recipient_id BIGINT NOT NULL REFERENCES agents (id),
      read_at      BIGINT,
      hold         TEXT,
      held_until   BIGINT,
      UNIQUE (message_id, recipient_id)
    )`,
    'CREATE INDEX deliveries_unread ON deliveries (recipient_id, id) WHERE read_at IS NULL',

    // wakes: the channels on which waiters are woken, parted by spaces.
    `CREATE TABLE changes (
      id         ${identity(dialect)},
      at         BIGINT NOT NULL,
      kind       TEXT NOT NULL,
      project_id BIGINT,
      agent_id   BIGINT,
      thread_id  BIGINT,
      message_id BIGINT,
      wakes      TEXT NOT NULL
    )`,

    `CREATE TABLE ended_sessions (
      nonce      TEXT PRIMARY KEY,
      expires_at BIGINT NOT NULL
    )`,
    'CREATE INDEX ended_sessions_expiry ON ended_sessions (expires_at)',
  ],
}
