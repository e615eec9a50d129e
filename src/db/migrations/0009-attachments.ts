/** Attachments: the files of messages by their content, small images in the message itself, and what each project holds. */
import { bytea } from '../dialect.ts'
import type { Migration } from '../migrate.ts'

export const attachments: Migration = {
  id: 9,
  name: 'attachments',
  up: (dialect) => [
    "ALTER TABLE agents ADD COLUMN attachments_policy TEXT NOT NULL DEFAULT 'auto'",
    // The bytes of all its rows in attachments: a sum over them would cost each send more than the last.
    'ALTER TABLE projects ADD COLUMN attachment_bytes BIGINT NOT NULL DEFAULT 0',
    // A JSON list: the kind of each, and where its content is. NULL for nearly all messages.
    'ALTER TABLE messages ADD COLUMN attachments TEXT',

    // The path is that in the archive of the project, and made from the content: one row for all messages that hold it.
    `CREATE TABLE attachments (
      project_id BIGINT NOT NULL REFERENCES projects (id),
      path       TEXT NOT NULL,
      sha256     TEXT NOT NULL,
      media_type TEXT NOT NULL,
      size       BIGINT NOT NULL,
      content    TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (project_id, path)
    )`,
    // The bytes come in parts, each written by a commit of its own: one of 4 MB held up all others for 190 ms.
    `CREATE TABLE attachment_parts (
      content  TEXT NOT NULL,
      position INTEGER NOT NULL,
      bytes    ${bytea(dialect)} NOT NULL,
      PRIMARY KEY (content, position)
    )`,
    // Contents that no row of attachments names yet: the send that wrote them goes on, or has failed.
    'CREATE TABLE staged_contents (content TEXT PRIMARY KEY, staged_at BIGINT NOT NULL)',
    'CREATE INDEX staged_contents_at ON staged_contents (staged_at)',

    // Apart from messages, so that a list of messages need not read them. position is the place in messages.attachments.
    `CREATE TABLE inline_images (
      message_id BIGINT NOT NULL REFERENCES messages (id),
      position   INTEGER NOT NULL,
      data_uri   TEXT NOT NULL,
      PRIMARY KEY (message_id, position)
    )`,
  ],
}
