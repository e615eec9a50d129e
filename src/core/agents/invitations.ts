/** Invitations: a link gives the owner of one agent its key, once, whether the agent exists yet or not. */
import { hash } from 'node:crypto'
import { HubError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import { nameKey } from '../../base/names.ts'
import type { Tx } from '../../db/port.ts'
import { type AgentRow, findAgent } from '../../store/agents/agents.ts'
import { deleteHoldersOf } from '../../store/agents/holders.ts'
import {
  deleteInvitation,
  deleteOldInvitations,
  insertInvitation,
  listInvitations as listRows,
  type TakenInvitation,
  takeInvitation,
} from '../../store/agents/invitations.ts'
import { hasKey, lockKeyed } from '../../store/agents/keys.ts'
import type { Caller } from '../access/callers.ts'
import { type Guessed, guess } from '../access/guessing.ts'
import { newKey } from '../access/keys.ts'
import { mayActAs, needSteering, needWriting } from '../access/rules.ts'
import { commit, type Note } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { findPlace, isNew, makeProject, needProject, slugOfProject } from '../projects/projects.ts'
import { notYours } from './acting.ts'
import { type Agent, type ContactPolicy, makeAgent, noteKeyed, refuseLookalike, refuseName } from './agents.ts'
import { storeKey } from './keys.ts'

export const invitedDoors = ['mail', 'mailbox', 'hub', 'bus', 'post'] as const
export type InvitedDoor = (typeof invitedDoors)[number]

/** The door that an agent comes by decides whom it takes mail from at first. */
const policies: Readonly<Record<InvitedDoor, ContactPolicy>> = {
  mail: 'auto',
  mailbox: 'open',
  hub: 'open',
  bus: 'open',
  post: 'contacts_only',
}

/** 128 random bits as 25 letters and digits; a fast hash is enough for as many, as it is for keys. */
const newCode = ({ ids }: Hub): string =>
  BigInt(`0x${ids.secret().slice(0, 32)}`)
    .toString(36)
    .padStart(25, '0')
const hashCode = (code: string): string => hash('sha256', `invitation:${code}`)

export interface Inviting {
  /** A path that is new makes a project. */
  readonly project: string
  readonly name: string
  readonly door: InvitedDoor
  readonly ttlMs: number
}

export interface Invited {
  readonly agent: string
  /** Its slug. */
  readonly project: string
  readonly expiresAt: number
  /** Shown once: the hub keeps its hash. */
  readonly code: string
  /** Whether an older link for this agent ended with it: its owner may hold that one. */
  readonly replaced: boolean
}

/** The new invitation takes the place of an older one for the same agent. An agent that has a key is refused (access.invite.keyed). */
export async function invite(hub: Hub, caller: Caller, inviting: Inviting): Promise<Invited> {
  needSteering(caller)
  const { project, name, door, ttlMs } = inviting
  refuseName(name)
  const place = await findPlace(hub, caller, project)
  const code = newCode(hub)
  const [now, expiresAt] = [hub.clock.now(), hub.clock.now() + ttlMs]
  const home = await commit(hub, caller, async (tx, note) => {
    const home = isNew(place) ? await makeProject(hub, tx, note, place) : place
    const found = await findAgent(tx, home.id, nameKey(name))
    if (found === undefined) await refuseLookalike(tx, home.id, name)
    else await refuseKeyed(tx, caller, found)
    await deleteOldInvitations(tx, now)
    const invitation = { projectId: home.id, name: found?.name ?? name, nameKey: nameKey(name), door, now, expiresAt }
    const replaced = (await deleteInvitation(tx, home.id, nameKey(name))) > 0
    await insertInvitation(tx, { ...invitation, hash: hashCode(code) })
    return { slug: home.slug, name: invitation.name, replaced }
  })
  return { agent: home.name, project: home.slug, expiresAt, code, replaced: home.replaced }
}

/** An agent whose keys were all ended is still its owner's: only the operator invites it again. */
async function refuseKeyed(tx: Tx, caller: Caller, { id, name, keyed }: AgentRow): Promise<void> {
  if (await hasKey(tx, id)) throw hasKeyAlready(name)
  if (keyed === 1 && !mayActAs(caller, { id, name, keyed: true })) throw notYours(caller, { name })
}

const hasKeyAlready = (name: string): HubError =>
  new HubError('CONFLICT', `${name} has a key already.`, {
    hint: `Invite another name. \`parley keys rotate ${name}\` gives this one a new key, and ends the old one.`,
  })

interface Accepting {
  readonly name: string
  readonly code: string
  /** The network that it comes from: wrong codes are counted for each. */
  readonly address: string
}

interface Accepted {
  readonly agent: string
  readonly project: string
  readonly door: InvitedDoor
  /** Shown once. */
  readonly key: string
}

/**
 * For whoever brings the code. Of two who bring it at once, one is given the key (access.invite.once). Throws NOT_FOUND for
 * a wrong, used or expired code alike, and RATE_LIMITED after too many of them (access.invite.guessed).
 */
export async function acceptInvitation(
  hub: Hub,
  caller: Caller,
  { name, code, address }: Accepting,
): Promise<Accepted> {
  needWriting(caller)
  const guessing = {
    guesser: `invitation:${address}`,
    most: limits.wrongCodes,
    tooMany: {
      message: 'There were too many wrong invitations. Wait a minute.',
      hint: 'Check the link, and copy it whole.',
    },
  }
  const key = newKey(hub)
  const given = await guess(hub, { key: caller.key }, guessing, async (tx, note): Promise<Guessed<Given>> => {
    const wanted = { hash: hashCode(code), nameKey: nameKey(name), now: hub.clock.now() }
    const taken = await takeInvitation(tx, wanted)
    return taken === undefined ? { wrong: notGood() } : { right: await giveKey(hub, { tx, note, taken, key }) }
  })
  noteKeyed(hub, given.agent)
  const { agent, door } = given
  return { agent: agent.name, project: await slugOfProject(hub, agent.projectId), door, key }
}

interface Given {
  readonly agent: Agent
  readonly door: InvitedDoor
}

interface Giving {
  readonly tx: Tx
  readonly note: Note
  readonly taken: TakenInvitation
  readonly key: string
}

async function giveKey(hub: Hub, { tx, note, taken, key }: Giving): Promise<Given> {
  const { project_id: projectId, name } = taken
  const door = invitedDoors.find((one) => one === taken.door) ?? 'mailbox'
  const place = { id: projectId, slug: '', key: '', createdAt: 0 }
  const row = await makeAgent(hub, tx, note, { place, name, policy: policies[door], unseen: true })
  const agent = { id: row.id, projectId, name: row.name }
  // Somebody else may have given it a key since it was invited: the link does not open what is theirs.
  if (await lockKeyed(tx, agent.id)) throw hasKeyAlready(name)
  await deleteHoldersOf(tx, agent.id)
  await storeKey(hub, { tx, note, agent, key })
  return { agent, door }
}

const notGood = (): HubError =>
  new HubError('NOT_FOUND', 'This invitation is not valid: it was used, has expired, or never existed.', {
    hint: 'Ask the sender of the link for a new one (`parley invite`).',
  })

export interface Invitation {
  readonly agent: string
  readonly project: string
  readonly door: string
  readonly createdAt: number
  readonly expiresAt: number
}

/** Invitations that can still be used, the newest first. */
export async function listInvitations(
  hub: Hub,
  caller: Caller,
  { limit }: { limit: number },
): Promise<{ invitations: Invitation[]; more: boolean }> {
  needSteering(caller)
  const rows = await listRows(reader(hub), { now: hub.clock.now(), limit: limit + 1 })
  const invitations = rows.slice(0, limit).map(({ name, project, door, created_at, expires_at }) => ({
    agent: name,
    project,
    door,
    createdAt: created_at,
    expiresAt: expires_at,
  }))
  return { invitations, more: rows.length > limit }
}

/** The link of an agent is no longer good. */
export async function revokeInvitation(
  hub: Hub,
  caller: Caller,
  { project, name }: { project: string; name: string },
): Promise<void> {
  needSteering(caller)
  const home = await needProject(hub, caller, project)
  const revoked = await commit(hub, caller, (tx) => deleteInvitation(tx, home.id, nameKey(name)))
  if (revoked > 0) return
  throw new HubError('NOT_FOUND', `There is no invitation for ${name} in the project ${home.slug}.`, {
    hint: '`parley invitations list` shows the invitations that are still open.',
  })
}
