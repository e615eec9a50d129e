/** Projects by the folder that their key means, however it is written; and the names of projects that were merged into others. */
import sql from 'sql-template-tag'
import { folderKey } from '../../base/names.ts'
import type { Migration } from '../migrate.ts'

export const folders: Migration = {
  id: 22,
  name: 'folders',
  up: () => [
    // Not unique: older databases hold a folder in two spellings, as two projects.
    'ALTER TABLE projects ADD COLUMN folder TEXT',
    'CREATE INDEX projects_folder ON projects (folder)',
    // A slug or a key of a project that is no more.
    `CREATE TABLE project_aliases (
      name       TEXT PRIMARY KEY,
      project_id BIGINT NOT NULL REFERENCES projects (id)
    )`,
    'CREATE INDEX project_aliases_project ON project_aliases (project_id)',
  ],
  async finish(tx) {
    const rows = await tx.all<{ id: number; human_key: string }>(sql`SELECT id, human_key FROM projects`)
    for (const { id, human_key } of rows)
      await tx.all(sql`UPDATE projects SET folder = ${folderKey(human_key)} WHERE id = ${id}`)
  },
}
