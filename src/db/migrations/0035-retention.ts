/** Moving old mail out: the feed says which files of the archive leave, and carriers are found by their message. */
import type { Migration } from '../migrate.ts'

export const retention: Migration = {
  id: 35,
  name: 'retention',
  besideFrom: 33,
  up: () => [
    // JSON, of few kinds of changes: rows that are gone cannot be asked any more.
    'ALTER TABLE changes ADD COLUMN detail TEXT',
    // A foreign key looks for the rows that refer to a message before it lets it go.
    'CREATE INDEX attachment_carriers_message ON attachment_carriers (message_id)',
  ],
}
