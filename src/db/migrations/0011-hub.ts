/** Tables of the hub door: grants on threads, how far an agent was shown each of them, the subscriptions of sessions, and tasks. */
import { identity } from '../dialect.ts'
import type { Migration } from '../migrate.ts'

export const hub: Migration = {
  id: 11,
  name: 'hub',
  up: (dialect) => [
    // granter_id is the agent whose view of the thread is shared; NULL for all of it, granted by the operator.
    `CREATE TABLE grants (
      id         ${identity(dialect)},
      uid        TEXT NOT NULL UNIQUE,
      thread_id  BIGINT NOT NULL REFERENCES threads (id),
      agent_id   BIGINT NOT NULL REFERENCES agents (id),
      granter_id BIGINT REFERENCES agents (id),
      can        TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL
    )`,
    'CREATE INDEX grants_thread ON grants (thread_id, agent_id)',
    'CREATE INDEX grants_agent ON grants (agent_id, id)',
    'CREATE INDEX grants_granter ON grants (granter_id, id)',

    // Apart from cursors: a row there is a member of a topic, and looking at a thread makes no member.
    `CREATE TABLE read_marks (
      agent_id  BIGINT NOT NULL REFERENCES agents (id),
      thread_id BIGINT NOT NULL REFERENCES threads (id),
      seq       BIGINT NOT NULL,
      PRIMARY KEY (agent_id, thread_id)
    )`,
    'CREATE INDEX read_marks_thread ON read_marks (thread_id)',
    'CREATE INDEX cursors_agent ON cursors (agent_id)',

    // since tells where the resource was when the session began to follow it.
    `CREATE TABLE subscriptions (
      session    TEXT NOT NULL,
      uri        TEXT NOT NULL,
      since      TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      PRIMARY KEY (session, uri)
    )`,
    'CREATE INDEX subscriptions_expiry ON subscriptions (expires_at)',

    // A call that goes on without its client. caller and scope are JSON: whoever takes it over runs it as they did.
    // owner tells whose it is; holder runs it, as long as held_until has not passed.
    `CREATE TABLE tasks (
      id         TEXT PRIMARY KEY,
      owner      TEXT NOT NULL,
      door       TEXT NOT NULL,
      tool       TEXT NOT NULL,
      args       TEXT NOT NULL,
      caller     TEXT NOT NULL,
      scope      TEXT NOT NULL,
      status     TEXT NOT NULL,
      result     TEXT,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL,
      ttl_ms     BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      holder     TEXT NOT NULL,
      held_until BIGINT NOT NULL
    )`,
    'CREATE INDEX tasks_owner ON tasks (owner, id)',
    'CREATE INDEX tasks_expiry ON tasks (expires_at)',
    "CREATE INDEX tasks_working ON tasks (held_until) WHERE status = 'working'",
  ],
}
