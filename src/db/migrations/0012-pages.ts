/** Tables that the pages read: the mail of each project, its threads by their newest message, mail that nobody has read. */

import type { Migration } from '../migrate.ts'
import type { Dialect } from '../port.ts'

export const pages: Migration = {
  id: 12,
  name: 'pages',
  up: (dialect) => [
    // A message in each project that sees it. `home` is 1 in the project of its thread.
    `CREATE TABLE project_box (
      project_id BIGINT NOT NULL,
      message_id BIGINT NOT NULL,
      sender_id  BIGINT NOT NULL,
      importance TEXT NOT NULL,
      home       INTEGER NOT NULL,
      PRIMARY KEY (project_id, message_id)
    ) ${dialect === 'sqlite' ? 'WITHOUT ROWID' : ''}`,
    'CREATE INDEX project_box_sender ON project_box (sender_id, message_id) WHERE home = 1',
    "CREATE INDEX project_box_importance ON project_box (project_id, importance, message_id) WHERE importance <> 'normal'",
    // The newest message of each thread.
    `CREATE TABLE thread_box (
      thread_id  BIGINT PRIMARY KEY,
      project_id BIGINT NOT NULL,
      last_id    BIGINT NOT NULL
    )`,
    'CREATE INDEX thread_box_project ON thread_box (project_id, last_id)',
    'CREATE INDEX thread_box_last ON thread_box (last_id)',
    `INSERT INTO project_box
      SELECT t.project_id, m.id, m.sender_id, m.importance, 1 FROM messages m JOIN threads t ON t.id = m.thread_id ORDER BY 1, 2`,
    `INSERT INTO project_box
      SELECT g.project_id, m.id, m.sender_id, m.importance, 0
      FROM message_guests g JOIN messages m ON m.id = g.message_id JOIN threads t ON t.id = m.thread_id
      WHERE g.project_id <> t.project_id`,
    `INSERT INTO thread_box
      SELECT t.id, t.project_id, MAX(m.id) FROM threads t JOIN messages m ON m.thread_id = t.id GROUP BY t.id, t.project_id`,
    ...kept[dialect],

    // Few messages are in these: a send of any other pays nothing for them.
    "CREATE INDEX messages_importance ON messages (importance, id) WHERE importance <> 'normal'",
    'CREATE INDEX messages_attached ON messages (id) WHERE attachments IS NOT NULL',
    // Written with COALESCE, so that no engine takes them for the inbox of one agent, which has indexes of its own. They hold
    // every column that is asked for: a count reads no row.
    'CREATE INDEX deliveries_urgent_anywhere ON deliveries (message_id, urgent, read_at) WHERE urgent = 1 AND COALESCE(read_at, 0) = 0',
    'CREATE INDEX deliveries_unacked_anywhere ON deliveries (message_id, sent_at, ack_wanted, acked_at) WHERE ack_wanted = 1 AND COALESCE(acked_at, 0) = 0',
    // Written at its end alone, whoever the recipient is: a page of it takes the rows of many sends.
    'CREATE INDEX deliveries_unread_anywhere ON deliveries (message_id, sent_at, read_at) WHERE COALESCE(read_at, 0) = 0',

    // How many messages there were in each slot of time: all (kind 0), of an agent (1), from an agent to another (2).
    // A follower of the feed counts them (core/pages/activity-counts.ts).
    `CREATE TABLE activity (
      project_id BIGINT NOT NULL,
      grain      INTEGER NOT NULL,
      kind       INTEGER NOT NULL,
      slot       BIGINT NOT NULL,
      from_id    BIGINT NOT NULL,
      to_id      BIGINT NOT NULL,
      count      BIGINT NOT NULL,
      PRIMARY KEY (project_id, grain, kind, slot, from_id, to_id)
    ) ${dialect === 'sqlite' ? 'WITHOUT ROWID' : ''}`,
    'CREATE TABLE activity_totals (project_id BIGINT PRIMARY KEY, messages BIGINT NOT NULL)',

    // Pairs of projects, the lower id first. One that was judged stays, also where nothing speaks for it.
    `CREATE TABLE related_projects (
      a_id      BIGINT NOT NULL,
      b_id      BIGINT NOT NULL,
      percent   INTEGER NOT NULL,
      reason    TEXT NOT NULL,
      status    TEXT NOT NULL,
      judged_at BIGINT NOT NULL,
      PRIMARY KEY (a_id, b_id)
    )`,
    "CREATE INDEX related_projects_told ON related_projects (status, percent) WHERE status <> 'unrelated'",

    'CREATE INDEX leases_of ON leases (agent_id, id)',

    // The agent that stands for people, where mail to it came first.
    `UPDATE agents SET program = 'WebUI', model = 'Human', contact_policy = 'open' WHERE name_key = 'humanoverseer'`,

    // When somebody was last reminded of a message that is late.
    `CREATE TABLE reminders (
      message_id   BIGINT NOT NULL,
      recipient_id BIGINT NOT NULL,
      reminded_at  BIGINT NOT NULL,
      PRIMARY KEY (message_id, recipient_id)
    )`,
  ],
}

/** SQLite files both boxes in bulk behind the sends, with the outbox; PostgreSQL fills them as it notes a message for search. */
const kept: Readonly<Record<Dialect, readonly string[]>> = {
  sqlite: [
    // The boxes above got the unfiled messages too: the outbox gets them now, and all of them count as filed.
    `INSERT INTO outbox SELECT sender_id, id, created_at FROM messages
      WHERE mail = 1 AND id > (SELECT up_to FROM outbox_filed) ORDER BY sender_id, id`,
    'UPDATE outbox_filed SET up_to = (SELECT COALESCE(MAX(id), 0) FROM messages)',
  ],
  postgres: [
    // Once a statement: many messages of one thread in one statement touch its row once.
    `CREATE FUNCTION box_note() RETURNS TRIGGER LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO project_box (project_id, message_id, sender_id, importance, home)
        SELECT t.project_id, m.id, m.sender_id, m.importance, 1 FROM fresh m JOIN threads t ON t.id = m.thread_id;
      INSERT INTO thread_box (thread_id, project_id, last_id)
        SELECT t.id, t.project_id, MAX(m.id) FROM fresh m JOIN threads t ON t.id = m.thread_id GROUP BY t.id, t.project_id
        ON CONFLICT (thread_id) DO UPDATE SET last_id = excluded.last_id WHERE thread_box.last_id < excluded.last_id;
      RETURN NULL;
    END $$`,
    `CREATE TRIGGER box_note AFTER INSERT ON messages REFERENCING NEW TABLE AS fresh
      FOR EACH STATEMENT EXECUTE FUNCTION box_note()`,
    `CREATE FUNCTION box_guest() RETURNS TRIGGER LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO project_box (project_id, message_id, sender_id, importance, home)
        SELECT NEW.project_id, m.id, m.sender_id, m.importance, 0 FROM messages m WHERE m.id = NEW.message_id ON CONFLICT DO NOTHING;
      RETURN NULL;
    END $$`,
    'CREATE TRIGGER box_guest AFTER INSERT ON message_guests FOR EACH ROW EXECUTE FUNCTION box_guest()',
  ],
}
