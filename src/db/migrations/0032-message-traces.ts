/** The traces in which messages were sent, in a table of its own: without tracing a send writes no byte more. */
import type { Migration } from '../migrate.ts'

export const messageTraces: Migration = {
  id: 32,
  name: 'message-traces',
  up: () => [
    'CREATE TABLE message_traces (message_id BIGINT PRIMARY KEY, traceparent TEXT NOT NULL, sent_at BIGINT NOT NULL)',
  ],
}
