/** Projects: the namespaces of agents and threads. */
import { HubError } from '../base/errors.ts'
import { slugOf } from '../base/names.ts'
import { findProject, insertProject } from '../store/projects.ts'
import { commit } from './commit.ts'
import { type Hub, remember } from './hub.ts'

/** The project of this slug or human key; one that was never named before is made, as a mailbox is. */
export async function ensureProject(hub: Hub, slugOrKey: string): Promise<number> {
  const known = hub.known.projects.get(slugOrKey)
  if (known !== undefined) return known
  const { id } =
    (await findProject(hub.db, slugOrKey)) ??
    (await commit(hub, async (tx, note) => {
      const found = await findProject(tx, slugOrKey)
      if (found !== undefined) return found
      const now = hub.clock.now()
      const made = await insertProject(tx, { slug: slugOf(slugOrKey), humanKey: slugOrKey, now })
      note({ kind: 'project.created', projectId: made.id, wakes: [] })
      return made
    }))
  return remember(hub.known.projects, slugOrKey, id)
}

/** A project that is only looked at is not made by it. */
export async function needProject(hub: Hub, slugOrKey: string): Promise<number> {
  const id = hub.known.projects.get(slugOrKey) ?? (await findProject(hub.db, slugOrKey))?.id
  if (id !== undefined) return remember(hub.known.projects, slugOrKey, id)
  throw new HubError('PROJECT_NOT_FOUND', `There is no project ${JSON.stringify(slugOrKey)}.`, {
    hint: 'Leave the project out to use the common one; the first message or topic in a project makes it.',
  })
}
