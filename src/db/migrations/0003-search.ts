/** The search index: a projection of the messages, which store/search/search.ts fills, merges and starts anew. */
import type { Migration } from '../migrate.ts'

export const search: Migration = {
  id: 3,
  name: 'search',
  up: (dialect) => (dialect === 'sqlite' ? sqlite : postgres),
}

/**
 * On SQLite it is a row of FTS5 tables, `search_1`, `search_2` and so on, made as they are needed. The newest one's
 * `last_id` is the watermark: the ids of messages are in the order of the commits, for there is one writer at a time.
 */
const sqlite = [
  `CREATE TABLE search_parts (
    part    INTEGER PRIMARY KEY,
    last_id BIGINT NOT NULL,
    words   BIGINT NOT NULL,
    merged  INTEGER NOT NULL DEFAULT 0
  )`,
]

/**
 * On PostgreSQL ids are taken before the commit, so that no watermark is safe: a trigger notes each message instead. To
 * let it make the words as well would cost every send 0.35 ms (0.23 → 0.58), and one in a hundred 5 ms; noting costs 0.02.
 */
const postgres = [
  'CREATE TABLE search_words (message_id BIGINT PRIMARY KEY, words TSVECTOR NOT NULL)',
  // Every search reads GIN's pending list. Sorted in at every megabyte it costs 0.15 ms a message, at once 0.45.
  'CREATE INDEX search_words_words ON search_words USING GIN (words) WITH (gin_pending_list_limit = 1024)',
  'CREATE TABLE search_pending (message_id BIGINT PRIMARY KEY)',
  'INSERT INTO search_pending (message_id) SELECT id FROM messages',
  `CREATE FUNCTION search_note() RETURNS TRIGGER LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO search_pending (message_id) VALUES (NEW.id);
    RETURN NULL;
  END $$`,
  'CREATE TRIGGER search_note AFTER INSERT ON messages FOR EACH ROW EXECUTE FUNCTION search_note()',
  // A rare word wants the index on words, a common one the messages from the end. EXECUTE has each query planned for
  // its words; a prepared statement gets one plan for all of them, which takes 200 ms for a rare word among 160,000.
  `CREATE FUNCTION search_find(query TSQUERY, most BIGINT) RETURNS SETOF BIGINT LANGUAGE plpgsql STABLE AS $$
  BEGIN
    RETURN QUERY EXECUTE 'SELECT message_id FROM search_words WHERE words @@ $1 ORDER BY message_id DESC LIMIT $2'
      USING query, most;
  END $$`,
]
