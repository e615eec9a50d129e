/** Invitations: links that give the owner of an agent its first key, once. */
import type { Migration } from '../migrate.ts'

export const invitations: Migration = {
  id: 21,
  name: 'invitations',
  up: () => [
    // Of the code only its hash is kept. An agent has one invitation at a time, and need not exist yet.
    `CREATE TABLE invitations (
      project_id BIGINT NOT NULL REFERENCES projects (id),
      name_key   TEXT NOT NULL,
      name       TEXT NOT NULL,
      hash       TEXT NOT NULL UNIQUE,
      door       TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      PRIMARY KEY (project_id, name_key)
    )`,
    'CREATE INDEX invitations_expires ON invitations (expires_at)',
  ],
}
