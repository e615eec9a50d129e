/** People at the pages: how far each has seen the mail, the searches that each keeps, and who of them wrote a message. */
import type { Migration } from '../migrate.ts'

export const people: Migration = {
  id: 34,
  name: 'people',
  besideFrom: 33,
  up: (dialect) => [
    // A person by name, or a browser. Messages up to floor_id were there when the visit before this one ended, at floor_at.
    `CREATE TABLE people (
      person     TEXT PRIMARY KEY,
      floor_id   BIGINT NOT NULL,
      floor_at   BIGINT NOT NULL,
      visited_id BIGINT NOT NULL,
      visited_at BIGINT NOT NULL
    )`,
    'CREATE INDEX people_visited ON people (visited_at)',
    // Threads that were read since: only those are kept, so a person has few of them.
    `CREATE TABLE seen_threads (
      person    TEXT NOT NULL,
      thread_id BIGINT NOT NULL,
      seen_id   BIGINT NOT NULL,
      seen_at   BIGINT NOT NULL,
      PRIMARY KEY (person, thread_id)
    ) ${dialect === 'sqlite' ? 'WITHOUT ROWID' : ''}`,
    `CREATE TABLE saved_searches (
      person   TEXT NOT NULL,
      path     TEXT NOT NULL,
      title    TEXT NOT NULL,
      saved_at BIGINT NOT NULL,
      PRIMARY KEY (person, path)
    )`,
    // Of messages of HumanOverseer, where the person who sent them has a name.
    'CREATE TABLE message_people (message_id BIGINT PRIMARY KEY, name TEXT NOT NULL, name_key TEXT NOT NULL)',
  ],
}
