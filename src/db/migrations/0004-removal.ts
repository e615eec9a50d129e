/** Indexes for removing messages: without them each one removed costs a scan for those that refer to it. */
import type { Migration } from '../migrate.ts'

export const removal: Migration = {
  id: 4,
  name: 'removal',
  // A foreign key looks for the rows that refer to a row before it lets it go, and brings no index of its own.
  up: () => [
    'CREATE INDEX messages_reply_to ON messages (reply_to) WHERE reply_to IS NOT NULL',
    'CREATE INDEX client_ids_message ON client_ids (message_id)',
  ],
}
