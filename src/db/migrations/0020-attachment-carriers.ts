/** Attachments by their content: the messages that carry a file or image, found by its SHA-1. */
import type { Migration } from '../migrate.ts'
import type { Dialect } from '../port.ts'

export const attachmentCarriers: Migration = {
  id: 20,
  name: 'attachment carriers',
  up: (dialect) => [
    `CREATE TABLE attachment_carriers (
      sha1       TEXT NOT NULL,
      message_id BIGINT NOT NULL REFERENCES messages (id),
      PRIMARY KEY (sha1, message_id)
    )`,
    `INSERT INTO attachment_carriers (sha1, message_id)
      SELECT DISTINCT sha1, message_id FROM (
        SELECT ${field(dialect, 'sha1')} AS sha1, m.id AS message_id FROM ${listed(dialect)}
        UNION ALL
        SELECT substr(${field(dialect, 'original_path')}, ${originalAt}, 40), m.id FROM ${listed(dialect)}
      ) AS carried WHERE sha1 IS NOT NULL`,
  ],
}

/** Where the hash begins in the path of an original. */
const originalAt = 'attachments/originals/xx/'.length + 1

const listed = (dialect: Dialect): string =>
  dialect === 'sqlite'
    ? 'messages m, json_each(m.attachments) AS j WHERE m.attachments IS NOT NULL'
    : `(SELECT id, attachments::json AS list FROM messages WHERE attachments IS NOT NULL) AS m,
        json_array_elements(m.list) AS j`

const field = (dialect: Dialect, name: string): string =>
  dialect === 'sqlite' ? `json_extract(j.value, '$.${name}')` : `j.value ->> '${name}'`
