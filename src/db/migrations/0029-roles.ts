/** Roles of agents, and mail to one of a role, which is shared until somebody has read it. */
import type { Migration } from '../migrate.ts'

export const roles: Migration = {
  id: 29,
  name: 'roles',
  up: () => [
    `CREATE TABLE agent_roles (
      project_id BIGINT NOT NULL,
      role       TEXT NOT NULL,
      agent_id   BIGINT NOT NULL,
      PRIMARY KEY (project_id, role, agent_id)
    )`,
    'CREATE INDEX agent_roles_agent ON agent_roles (agent_id)',
    // The role by which a delivery came; it may pass to another of that role until it is read.
    'ALTER TABLE deliveries ADD COLUMN shared_role TEXT',
    // Its candidates. Rows of mail that was read are swept.
    `CREATE TABLE shared_mail (
      agent_id    BIGINT NOT NULL,
      delivery_id BIGINT NOT NULL,
      PRIMARY KEY (agent_id, delivery_id)
    )`,
    'CREATE INDEX shared_mail_delivery ON shared_mail (delivery_id)',
  ],
}
