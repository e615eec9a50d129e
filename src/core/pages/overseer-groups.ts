/** Groups that people write to: everybody in a project, an agent role, and all who are stuck. */
import { HubError } from '../../base/errors.ts'
import { listEverybody, listMembers, listRoles } from '../../store/agents/roles.ts'
import type { Caller } from '../access/callers.ts'
import { activity } from '../agents/activity.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { needProject } from '../projects/projects.ts'
import { readBoard } from './board.ts'

const stuck = 'all:stuck'
const most = { members: 5000, roles: 20 } as const

/** The addresses of a group, `Name@slug`; undefined for a name that is no group. `project`: of a group that names none; `mark`: of the end of the feed, where a board that was read at it will do. */
export async function listGroup(
  hub: Hub,
  caller: Caller,
  called: string,
  { project, mark }: { readonly project: string | undefined; readonly mark?: string | undefined },
): Promise<string[] | undefined> {
  const [, name = '', place = project] = /^((?:all|role):[^@]+)(?:@(.+))?$/.exec(called) ?? []
  if (name === '') return undefined
  if (name === stuck) {
    const { agents } = await readBoard(hub, caller, { project: place, mark })
    return agents.filter(({ state }) => state === 'stuck').map(({ name, project }) => `${name}@${project}`)
  }
  if (place === undefined) throw new HubError('INVALID_ARGUMENT', `${called} needs a project, as ${called}@slug.`)
  const { id: projectId, slug } = await needProject(hub, caller, place)
  const limit = most.members
  const active = [...activity(hub).unwritten().keys()]
  const rows =
    name === 'all:project'
      ? await listEverybody(reader(hub), { projectId, active, limit })
      : await listMembers(reader(hub), { projectId, role: name.slice('role:'.length), limit })
  return rows.map((row) => `${row.name}@${slug}`)
}

/** The groups of a project, or of all: those with nobody in them are left out. */
export async function listGroups(
  hub: Hub,
  caller: Caller,
  { project, mark }: { readonly project: string | undefined; readonly mark?: string | undefined },
): Promise<{ readonly called: string; readonly count: number }[]> {
  const names = [stuck]
  if (project !== undefined) {
    const { id } = await needProject(hub, caller, project)
    const roles = await listRoles(reader(hub), id, most.roles)
    names.push('all:project', ...roles.map((role) => `role:${role}`))
  }
  const groups = []
  for (const called of names)
    groups.push({ called, count: (await listGroup(hub, caller, called, { project, mark }))?.length ?? 0 })
  return groups.filter(({ count }) => count > 0)
}
