/** Making one project of two, and giving a project another key. For stores that no other process has open. */
import { HubError } from '../../base/errors.ts'
import { commons, folderKey, isAbsolutePath, nameKey, tidyKey } from '../../base/names.ts'
import type { Reader, Tx } from '../../db/port.ts'
import {
  countOtherFiles,
  type FiguresRow,
  listClashes,
  listFigures,
  listLabels,
  listTaskCallers,
  listTwins,
  mergeAgent,
  moveProject,
  startProjectionsAnew,
  updateLabel,
  updateProjectKey,
  updateTaskCaller,
} from '../../store/exports/merging.ts'
import { lockProject } from '../../store/projects.ts'
import type { Caller } from '../access/callers.ts'
import { needSteering } from '../access/rules.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { findNamed, forgetProjects, listProjects, needProject, type Project } from '../projects/projects.ts'

type Figures = Omit<FiguresRow, 'id'>

export interface Merge {
  readonly from: Project & Figures
  readonly into: Project & Figures
  /** Agents of one name, which become one. */
  readonly agents: readonly string[]
  /** Threads and topics of the first whose name the second has, too. */
  readonly renamed: readonly { readonly from: string; readonly to: string }[]
}

interface Pair {
  readonly from: Project
  readonly into: Project
}

/** Each project with what hangs on it. */
export async function listWithFigures(hub: Hub, caller: Caller): Promise<(Project & Figures)[]> {
  needSteering(caller)
  const figures = new Map((await listFigures(reader(hub), hub.clock.now())).map(({ id, ...rest }) => [id, rest]))
  const { projects } = await listProjects(hub, caller, { limit: Number.MAX_SAFE_INTEGER - 1 })
  return projects.map((project) => ({ ...project, ...(figures.get(project.id) ?? nothing) }))
}

const nothing: Figures = { agents: 0, threads: 0, messages: 0, leases: 0 }

/** The effect of a merge; throws if it cannot be done. */
export async function planMerge(hub: Hub, caller: Caller, from: string, into: string): Promise<Merge> {
  const pair = await needPair(hub, caller, from, into)
  return plan(hub, reader(hub), pair)
}

/** In one transaction: a death leaves two projects or one, and nothing between. */
export async function mergeProjects(hub: Hub, caller: Caller, from: string, into: string): Promise<Merge> {
  const pair = await needPair(hub, caller, from, into)
  const { id: fromId, slug, key: human_key, createdAt: created_at } = pair.from
  const intoId = pair.into.id
  const merged = await commit(hub, caller, async (tx, note) => {
    for (const id of [fromId, intoId].sort((a, b) => a - b)) await lockProject(tx, id)
    const planned = await plan(hub, tx, pair)
    const twins = await listTwins(tx, fromId, intoId)
    const labels = planned.renamed.values()
    for (const { id, topic } of await listClashes(tx, fromId, intoId)) {
      const label = labels.next().value?.to ?? ''
      await updateLabel(tx, { id, topic: topic === 1, label, nameKey: nameKey(label) })
    }
    for (const { from_id, into_id } of twins) await mergeAgent(tx, from_id, into_id)
    await moveProject(tx, { id: fromId, slug, human_key, created_at }, intoId, folderKey(human_key))
    await moveTasks(tx, pair, new Map(twins.map(({ from_id, into_id }) => [from_id, into_id])))
    await startProjectionsAnew(tx)
    note({ kind: 'project.merged', projectId: intoId })
    return planned
  })
  forgetProjects(hub)
  return merged
}

async function needPair(hub: Hub, caller: Caller, from: string, into: string): Promise<Pair> {
  needSteering(caller)
  const pair = { from: await needProject(hub, caller, from), into: await needProject(hub, caller, into) }
  if (pair.from.id === pair.into.id)
    throw new HubError('INVALID_ARGUMENT', `Both names mean one project, ${pair.into.slug}.`, {
      hint: 'Nothing was merged. `parley projects list` shows all projects.',
    })
  if (pair.from.slug === commons)
    throw new HubError('INVALID_ARGUMENT', `The project ${commons} is there for all who name none: it stays.`, {
      hint: `Nothing was merged. Merge the other one into it: \`parley projects merge ${pair.into.slug} ${commons}\`.`,
    })
  return pair
}

async function plan(hub: Hub, db: Reader, { from, into }: Pair): Promise<Merge> {
  const twins = await listTwins(db, from.id, into.id)
  const keyed = twins.filter(({ from_keys, into_keys }) => from_keys > 0 && into_keys > 0).map(({ name }) => name)
  if (keyed.length > 0) throw twoKeys(keyed, { from, into })
  if ((await countOtherFiles(db, from.id, into.id)) > 0)
    throw new HubError('INVALID_ARGUMENT', 'Both projects have a file of one name and another content.', {
      hint: 'Nothing was merged. `parley archive verify` lists such files.',
    })
  const figuresOf = async ({ id }: Project): Promise<Figures> => {
    const [row] = await listFigures(db, hub.clock.now(), id)
    if (row === undefined) return nothing
    const { id: _, ...figures } = row
    return figures
  }
  return {
    from: { ...from, ...(await figuresOf(from)) },
    into: { ...into, ...(await figuresOf(into)) },
    agents: twins.map(({ name }) => name),
    renamed: await relabelled(db, { from, into }),
  }
}

/** Two owners: which of them the agent belongs to is for a person to decide. */
const twoKeys = (names: readonly string[], { from, into }: Pair): HubError =>
  new HubError('CONFLICT', `In both projects ${names.join(', ')} hold${names.length === 1 ? 's' : ''} a key.`, {
    hint: `Nothing was merged. Decide whose key stays, and revoke the other: \`parley keys revoke ${names[0]} --project ${from.slug}\` or \`--project ${into.slug}\`.`,
  })

/** Two conversations are never mixed into one: the one that comes gets a number. In the order of `listClashes`. */
async function relabelled(db: Reader, { from, into }: Pair): Promise<Merge['renamed']> {
  const taken = await listLabels(db, from.id, into.id)
  return (await listClashes(db, from.id, into.id)).map(({ label }) => {
    let to = label
    for (let n = 2; taken.has(to) || taken.has(nameKey(to)); n++) to = `${label.slice(0, 120)}-${n}`
    taken.add(to).add(nameKey(to))
    return { from: label, to }
  })
}

async function moveTasks(tx: Tx, { from, into }: Pair, twins: ReadonlyMap<number, number>): Promise<void> {
  for (const { id, caller } of await listTaskCallers(tx)) {
    const read = JSON.parse(caller) as { agentId?: number; projectId?: number }
    if (read.projectId !== from.id) continue
    const agentId = twins.get(read.agentId ?? 0) ?? read.agentId
    await updateTaskCaller(tx, id, JSON.stringify({ ...read, agentId, projectId: into.id }))
  }
}

/** Another key for a project, whose folder has moved: its slug and everything in it stay. */
export async function renameProject(hub: Hub, caller: Caller, project: string, newKey: string): Promise<Project> {
  needSteering(caller)
  const { id, slug, createdAt } = await needProject(hub, caller, project)
  if (!isAbsolutePath(newKey))
    throw new HubError('INVALID_ARGUMENT', `The key of a project is an absolute path, not ${JSON.stringify(newKey)}.`, {
      hint: `For example: parley projects rename ${slug} /srv/code/backend`,
    })
  if (slug === commons)
    throw new HubError('INVALID_ARGUMENT', `The project ${commons} is there for all who name none: it stays.`)
  const key = tidyKey(newKey)
  await commit(hub, caller, async (tx, note) => {
    await lockProject(tx, id)
    const there = await findNamed(tx, key)
    if (there !== undefined && there.id !== id)
      throw new HubError('CONFLICT', `${key} is the project ${there.slug} already.`, {
        hint: `Nothing was renamed. To make one of the two: parley projects merge ${slug} ${there.slug}`,
      })
    await updateProjectKey(tx, id, key, folderKey(key))
    await startProjectionsAnew(tx)
    note({ kind: 'project.renamed', projectId: id })
  })
  forgetProjects(hub)
  return { id, slug, key, createdAt }
}
