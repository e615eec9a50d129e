/** Grants that let agents call the tools of other servers. */
import { identity } from '../dialect.ts'
import type { Migration } from '../migrate.ts'

export const bridge: Migration = {
  id: 13,
  name: 'bridge',
  up: (dialect) => [
    `CREATE TABLE bridge_grants (
      id         ${identity(dialect)},
      uid        TEXT NOT NULL UNIQUE,
      agent_id   BIGINT NOT NULL REFERENCES agents (id),
      server     TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL
    )`,
    'CREATE INDEX bridge_grants_agent ON bridge_grants (agent_id, id)',
  ],
}
