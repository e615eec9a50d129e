/** Registration: an agent of the mail door gets its identity, under a name of its own or a generated one. */
import { HubError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import { isMemorable, lettersAndDigits, memorableName } from '../../base/memorable.ts'
import { agentNamePattern, isReserved, nameKey, overseer } from '../../base/names.ts'
import type { Reader } from '../../db/port.ts'
import {
  type AttachmentsPolicy,
  findProfile,
  insertProfile,
  listTaken,
  type ProfileRow,
  updateProfile,
} from '../../store/agents/profiles.ts'
import type { Caller } from '../access/callers.ts'
import { mayRoam, needWriting } from '../access/rules.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { findPlace, findProjectCalled, isNew, makeProject, needProject, type Project } from '../projects/projects.ts'
import { actAs } from './acting.ts'
import { known, noAgent, refuseLookalike } from './agents.ts'
import { type Profile, toProfile } from './profiles.ts'

/** An agent's introduction of itself. */
export interface Introduction {
  /** A project that is new is made. */
  readonly project: string
  readonly program?: string | undefined
  readonly model?: string | undefined
  readonly task?: string | undefined
  readonly attachments?: AttachmentsPolicy | undefined
  /** The name of its client: the program of an agent that names none. */
  readonly client?: string | undefined
}

export interface Registered {
  readonly profile: Profile
  /** The name it asked for and did not get, and the reason. */
  readonly renamed?: { readonly requested: string; readonly note: string }
}

const unknown = 'unknown'

/**
 * An existing name is that agent again, in every mode: otherwise no agent could be the same after a restart.
 * The mode decides on new names only (mail.name.existing). Without a name the agent is new, under a generated one.
 */
export async function register(
  hub: Hub,
  caller: Caller,
  { name: asked, ...intro }: Introduction & { readonly name?: string | undefined },
): Promise<Registered> {
  needWriting(caller)
  const name = asked === undefined ? undefined : await plainName(hub, intro.project, asked.trim())
  refuseReserved(name)
  if (!mayRoam(caller)) return { profile: await renewOwn(hub, caller, intro, name) }
  const fault = name === undefined ? undefined : newNameFault(hub, name)
  const there = name === undefined ? undefined : await findExisting(hub, intro.project, name)
  // Refused before anything is made: no project is left behind.
  if (there === undefined && fault !== undefined && hub.rules.names === 'strict')
    throw await badName(hub, intro.project, name ?? '')
  const place = await findPlace(hub, caller, intro.project)
  if (there !== undefined && !isNew(place))
    return { profile: await renew(hub, caller, { project: place, row: there, intro }) }
  const { project, row, made } = await commit(hub, caller, async (tx, note) => {
    const project = isNew(place) ? await makeProject(hub, tx, note, place) : place
    const found = name === undefined ? undefined : await findProfile(tx, project.id, nameKey(name))
    if (found !== undefined) return { project, row: found, made: false }
    const own = name === undefined || fault !== undefined ? await freeName(hub, tx, project.id) : name
    await refuseLookalike(tx, project.id, own)
    const row = await insertProfile(tx, newProfile(hub, project, { ...intro, name: own }))
    note({ kind: 'agent.created', projectId: project.id, agentId: row.id })
    return { project, row, made: true }
  })
  if (!made) return { profile: await renew(hub, caller, { project, row, intro }) }
  known(hub, row)
  const profile = toProfile(hub, project, row)
  return asked === undefined || fault === undefined ? { profile } : renamed(profile, asked, fault)
}

/** Always a new agent. The hint is a wish: its letters and digits are the name in every mode, if nobody has it (mail.agent.new). */
export async function createIdentity(
  hub: Hub,
  caller: Caller,
  { hint, ...intro }: Introduction & { readonly hint?: string | undefined },
): Promise<Registered> {
  if (!mayRoam(caller)) throw oneIdentity()
  const wish = hint === undefined ? undefined : lettersAndDigits(hint)
  refuseReserved(wish)
  const place = await findPlace(hub, caller, intro.project)
  const { project, row, fault } = await commit(hub, caller, async (tx, note) => {
    const project = isNew(place) ? await makeProject(hub, tx, note, place) : place
    let fault = wish === undefined ? undefined : hintFault(wish)
    if (wish !== undefined && fault === undefined && (await listTaken(tx, project.id, [wish])).length > 0)
      fault = 'is somebody else already, or looks like it'
    const name = wish === undefined || fault !== undefined ? await freeName(hub, tx, project.id) : wish
    const row = await insertProfile(tx, newProfile(hub, project, { ...intro, name }))
    note({ kind: 'agent.created', projectId: project.id, agentId: row.id })
    return { project, row, fault }
  })
  known(hub, row)
  const profile = toProfile(hub, project, row)
  return hint === undefined || fault === undefined ? { profile } : renamed(profile, hint, fault)
}

/** `GreenCastle@backend` is GreenCastle in that project; elsewhere it is a wish like any other. */
async function plainName(hub: Hub, slugOrKey: string, asked: string): Promise<string> {
  const at = asked.indexOf('@')
  if (at < 0) return asked
  const [here, there] = [await findProjectCalled(hub, slugOrKey), await findProjectCalled(hub, asked.slice(at + 1))]
  return here !== undefined && here.id === there?.id ? asked.slice(0, at) : asked
}

/** A caller with a key can only register as the agent of that key. */
async function renewOwn(hub: Hub, caller: Caller, intro: Introduction, name: string | undefined): Promise<Profile> {
  if (name === undefined) throw oneIdentity()
  const agent = await actAs(hub, { caller, project: intro.project, name })
  const project = await needProject(hub, caller, intro.project)
  const row = await findProfile(reader(hub), project.id, nameKey(agent.name))
  if (row === undefined) throw await noAgent(hub, caller, { home: project, name })
  return renew(hub, caller, { project, row, intro })
}

const oneIdentity = (): HubError =>
  new HubError('FORBIDDEN', 'A key belongs to one agent, and makes no others.', {
    reason: 'keyed',
    hint: 'Act under the name that the key was made for.',
  })

function refuseReserved(name: string | undefined): void {
  if (name === undefined || !isReserved(name)) return
  throw new HubError('INVALID_ARGUMENT', `The name ${overseer} is reserved for people.`, {
    hint: 'Choose another name of two capitalised words, such as GreenCastle, or leave it out to be given one.',
  })
}

/** Why a name that nobody has yet cannot be taken as it is; continues the sentence `"x" …`. */
function newNameFault({ rules }: Hub, name: string): string | undefined {
  if (rules.names === 'always_auto') return 'is a new name, and new names are generated here'
  return isMemorable(name) ? undefined : 'is not two capitalised words'
}

/** Why a hint makes no name, whoever has it. */
function hintFault(wish: string): string | undefined {
  return agentNamePattern.test(wish) ? undefined : `makes no name of 1 to ${limits.agentNameLength} letters and digits`
}

async function findExisting(hub: Hub, slugOrKey: string, name: string): Promise<ProfileRow | undefined> {
  const project = await findProjectCalled(hub, slugOrKey)
  return project && findProfile(reader(hub), project.id, nameKey(name))
}

async function badName(hub: Hub, slugOrKey: string, name: string): Promise<HubError> {
  const project = await findProjectCalled(hub, slugOrKey)
  const free = project === undefined ? memorableName(hub.ids.below) : await freeName(hub, reader(hub), project.id)
  return new HubError(
    'INVALID_ARGUMENT',
    `The name ${JSON.stringify(name)} is not two capitalised words, and no agent has it yet.`,
    { hint: `Register with a name such as ${free}, which is free, or leave the name out to be given one.` },
  )
}

const namesPerAttempt = 8

/** A name that nobody has. Two nodes that choose the same at once are told apart by the index, and one chooses again. */
async function freeName({ ids }: Hub, db: Reader, projectId: number): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    const names = Array.from({ length: namesPerAttempt }, () => memorableName(ids.below, attempt))
    const taken = new Set(await listTaken(db, projectId, names))
    const free = names.find((name) => !taken.has(name))
    if (free !== undefined) return free
  }
}

const newProfile = (
  hub: Hub,
  { id }: Project,
  { name, program, model, task, attachments = 'auto', client }: Introduction & { name: string },
) => ({
  projectId: id,
  name,
  nameKey: nameKey(name),
  program: program ?? client ?? unknown,
  model: model ?? unknown,
  task: task ?? '',
  policy: 'auto',
  attachments,
  now: hub.clock.now(),
})

/** An agent that comes back: its introduction replaces the stored fields, the rest stays. */
async function renew(
  hub: Hub,
  caller: Caller,
  { project, row, intro }: { project: Project; row: ProfileRow; intro: Introduction },
): Promise<Profile> {
  await actAs(hub, { caller, project: project.slug, name: row.name, registered: true })
  const { program = row.program === unknown ? intro.client : undefined, model, task, attachments } = intro
  const same = (given: string | undefined, stored: string) => given === undefined || given === stored
  const known = same(program, row.program) && same(model, row.model) && same(task, row.task)
  if (known && same(attachments, row.attachments_policy)) return toProfile(hub, project, row)
  const next = await commit(hub, caller, async (tx, note) => {
    note({ kind: 'agent.updated', projectId: project.id, agentId: row.id })
    return updateProfile(tx, row.id, { program, model, task, attachments })
  })
  return toProfile(hub, project, next)
}

const renamed = (profile: Profile, requested: string, fault: string): Registered => ({
  profile,
  renamed: {
    requested,
    note: `${JSON.stringify(requested)} ${fault}. You are ${profile.name}: use that name from now on.`,
  },
})
