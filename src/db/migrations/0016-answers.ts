/** Messages that were sent under an id which their sender had used for other words. */
import type { Migration } from '../migrate.ts'

export const answers: Migration = {
  id: 16,
  name: 'answers',
  up: () => [
    // `client_ids` has the first message under an id. digest: of the words; one row for each makes their retries harmless too.
    `CREATE TABLE repeated_ids (
      recipient_id BIGINT NOT NULL REFERENCES agents (id),
      client_id    TEXT NOT NULL,
      sender_id    BIGINT NOT NULL REFERENCES agents (id),
      digest       TEXT NOT NULL,
      message_id   BIGINT NOT NULL REFERENCES messages (id),
      PRIMARY KEY (recipient_id, client_id, sender_id, digest)
    )`,
    'CREATE INDEX repeated_ids_message ON repeated_ids (message_id)',
  ],
}
