/** Questions of peers in topics, found among all messages. */
import type { Migration } from '../migrate.ts'

export const questions: Migration = {
  id: 31,
  name: 'questions',
  // Few messages are questions: the others cost it nothing.
  up: () => ["CREATE INDEX messages_questions ON messages (id) WHERE kind = 'question'"],
}
