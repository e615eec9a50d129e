/** Projects and agents in the words of mail, as its tools and `--json` say them, with ISO times. */
import type { Profile } from '../../core/agents/profiles.ts'
import type { Project } from '../../core/projects/projects.ts'
import { iso, isoOrNull } from './times.ts'

export const toProject = ({ id, slug, key, createdAt }: Project) => ({
  id,
  slug,
  human_key: key,
  created_at: iso(createdAt),
})

/** With what its caller is told of the folder that it named. */
export const toPlaced = (project: Project, note: string | undefined) => ({
  ...toProject(project),
  ...(note !== undefined && { note }),
})

export const toProfile = (profile: Profile) => ({
  id: profile.id,
  name: profile.name,
  program: profile.program,
  model: profile.model,
  task_description: profile.task,
  ...(profile.roles.length > 0 && { roles: [...profile.roles] }),
  inception_ts: iso(profile.createdAt),
  last_active_ts: isoOrNull(profile.activeAt || undefined),
  ...(profile.activeAt === 0 && { never_active: true as const }),
  contact_policy: profile.contactPolicy,
  attachments_policy: profile.attachmentsPolicy,
  unread_count: profile.unread,
  project_id: profile.projectId,
  project: profile.project,
})
