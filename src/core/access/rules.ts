/** The rights of each kind of caller: every verb asks here, and docs/internals/access-matrix.md shows the outcome. */
import { HubError } from '../../base/errors.ts'
import { isHub, isReserved } from '../../base/names.ts'
import type { ProjectSight, Sight } from '../../store/visibility.ts'
import { readOnlyRefusal } from '../hub/commit.ts'
import { type AgentCaller, type Caller, type Named, person, tokenCaller } from './callers.ts'

/** An agent as far as it decides who may act as it. */
interface Owned {
  readonly id: number
  readonly name: string
  /** Whether it has or had a key. */
  readonly keyed: boolean
}

/** The rights of one kind of caller. */
interface Rights {
  /** The agents that it acts as: all, those without a key that are no person's, those of people, or itself. */
  readonly actsAs: 'all' | 'unowned' | 'people' | 'itself'
  /** Whose mail it reads: of everybody, of agents without a key, or its own. */
  readonly reads: 'everybody' | 'keyless' | 'own'
  /** Whether the pages tell it of blind copies; an agent is told of its own. */
  readonly blind: boolean
  /** Whether it goes to all projects, or knows its own only. */
  readonly roams: boolean
  /** Whether it may remove what belongs to all, and reach files of this machine. */
  readonly steers: boolean
  /** Whether it decides for others with the operator's token. */
  readonly operates: boolean
  /** Whether it writes to agents as people do, and decides in their place. */
  readonly oversees: boolean
  /** Whether files of this machine are attached for it. */
  readonly files: boolean
  /** Whether a name on a URL counts at the hub: a token comes from anywhere, and is nobody there (hub.caller.token). */
  readonly named: boolean
  /** Whether HTTP_RBAC_READONLY_TOOLS says which tools it calls while it only reads, and may let it write by them. */
  readonly listed: boolean
  /** Whether the agent in whose name it calls counts as active: to somebody who looks in from outside it has done nothing. */
  readonly active: boolean
}

const none = { roams: false, steers: false, operates: false, oversees: false, files: false, named: false, listed: true }
const all = { roams: true, steers: true, operates: true, oversees: true, files: true, named: true, listed: true }
const mayAll = { actsAs: 'all', reads: 'everybody', blind: true, active: true } as const
const unowned = { actsAs: 'unowned', reads: 'keyless' } as const

/** The one table of what kinds of callers there are and what each may do: a new kind is a row here. */
const rights: Readonly<Record<Caller['kind'], Rights>> = {
  operator: { ...mayAll, ...all },
  hub: { ...mayAll, ...all, operates: false, oversees: false, files: false },
  local: { ...unowned, ...all, blind: true, active: true, operates: false, oversees: false },
  person: { ...all, actsAs: 'people', reads: 'keyless', blind: true, active: true, operates: false, files: false },
  agent: { ...none, actsAs: 'itself', reads: 'own', blind: false, named: true, active: true },
  writer: { ...unowned, ...none, blind: false, roams: true, active: true },
  reader: { ...unowned, ...none, blind: false, roams: true, active: false },
  auditor: { ...mayAll, ...none, roams: true, named: true, listed: false, active: false },
}

const of = ({ kind }: Caller): Rights => rights[kind]

/** Callers without an agent of their own: they act as any agent that is nobody else's. */
export const isUnnamed = (caller: Caller): boolean => of(caller).actsAs === 'unowned'

/** Callers that sent no credentials: a page shows them the way to the login. */
export const isAnonymous = ({ kind }: Caller): boolean => kind === 'local'

/** The agent that calls for itself: by its own key, or by a signed token that names it. */
export const agentOf = (caller: Caller): AgentCaller | undefined => (caller.kind === 'agent' ? caller : undefined)

/** The name that a person has logged in with. */
export const personOf = (caller: Caller): string | undefined => (caller.kind === 'operator' ? caller.person : undefined)

/** The agent that a token names and that its first write makes; undefined where there is nothing to make. */
export const unmadeAgent = (caller: Caller): Named | undefined => agentOf(caller)?.unmade

/** The only project that a caller knows: the holder of a key is told of no other. */
export const homeOf = (caller: Caller): number | undefined => agentOf(caller)?.projectId

export function mayActAs(caller: Caller, agent: Owned): boolean {
  switch (of(caller).actsAs) {
    case 'all':
      return true
    case 'unowned':
      return !agent.keyed && !isReserved(agent.name) && !isHub(agent.name)
    case 'people':
      return isReserved(agent.name)
    case 'itself':
      return isItself(caller, agent)
  }
}

export const isItself = (caller: Caller, { id }: Pick<Owned, 'id'>): boolean => agentOf(caller)?.agentId === id

/** Whether the pages show a caller the boxes of an agent: an agent sees its own. */
export const mayOpenBox = (caller: Caller, agent: Pick<Owned, 'id'>): boolean =>
  mayRoam(caller) || isItself(caller, agent)

/** Whether the agent that a caller acts as counts as active. */
export const countsAsActive = (caller: Caller): boolean => of(caller).active

/** Whether the name that a URL of the hub gives a caller counts. */
export const mayTakeName = (caller: Caller): boolean => of(caller).named

/** The bucket that the calls of a caller are counted in; the operator's are not. Without credentials the address is counted. */
export function limitKey(caller: Caller, address: string): string | undefined {
  if (mayOperate(caller)) return undefined
  return isAnonymous(caller) ? `address:${address}` : caller.key
}

/** For verbs that change something: they refuse a reader before they look for anything. */
export function needWriting(caller: Caller): void {
  if (caller.readOnly) throw readOnlyRefusal()
}

/** Whether the operator's list of tools is about a caller: an auditor calls all that change nothing, and no others (all.roles.auditor). */
export const followsList = (caller: Caller): boolean => of(caller).listed

/** The same caller for a call that the operator lets readers make though it writes (all.roles.listed). */
export function asWriter(caller: Caller): Caller {
  if (!followsList(caller)) return caller
  return caller.kind === 'reader' ? tokenCaller(caller.key, true) : { ...caller, readOnly: false }
}

/** Whether a caller may look into a project: at its agents, leases and topics. */
export const mayEnter = (caller: Caller, projectId: number): boolean => mayRoam(caller) || homeOf(caller) === projectId

/** Whether a caller goes anywhere: it may make projects and identities, and is told of all projects. */
export const mayRoam = (caller: Caller): boolean => of(caller).roams

/** For those who may see how the server is doing, and who calls what. */
export function needOversight(caller: Caller): void {
  if (!mayRoam(caller)) throw notForAgents()
}

/** For those who may remove what belongs to all, and reach files of this machine. */
export function needSteering(caller: Caller): void {
  needOversight(caller)
  if (of(caller).steers) return
  throw new HubError('FORBIDDEN', 'A caller with a signed token may not do this.', { hint: askPerson })
}

const askPerson = 'Ask a person: it is for local callers and for the operator.'

const notForAgents = (): HubError =>
  new HubError('FORBIDDEN', 'A caller with the key of an agent may not do this.', {
    reason: 'keyed',
    hint: askPerson,
  })

/** Whether files of this machine are read for a caller: a key or a token comes from anywhere (mail.attach.callers). */
export const mayReadFiles = (caller: Caller): boolean => of(caller).files

/** Whether a caller reads the mail of everybody. */
export const seesAll = (caller: Caller): boolean => of(caller).reads === 'everybody'

/** Sight of everything. */
export const wholeSight: Sight = { of: 'everybody', granted: [], topics: 'all', blind: 'all', sealed: false }

/** The sight of a caller on the pages: mail that it may not read is listed sealed (web.access.sight). */
export function pageSight(caller: Caller): Sight {
  const { reads, blind } = of(caller)
  const me = agentOf(caller)
  if (reads !== 'own') return { ...wholeSight, of: reads, blind: blind ? 'all' : 'none', sealed: reads === 'keyless' }
  const topics = { projectId: me?.projectId ?? 0 }
  return { ...wholeSight, of: me?.agentId ?? 0, topics, blind: 'own' }
}

/** The same at the tools: they list what may be read, and a blind copy stands in the inbox of its recipient only. */
export const toolSight = (caller: Caller): Sight => ({ ...pageSight(caller), blind: 'none', sealed: false })

/** Which messages of a project a caller may read. */
export const sightOf = (caller: Caller, projectId: number): ProjectSight => ({ ...toolSight(caller), projectId })

/** The sight of an agent at the hub, with its grants on the thread that it reads. */
export function hubSight(agentId: number, grants: readonly { readonly granter_id: number | null }[] = []): Sight {
  const granted = grants.map(({ granter_id }) => granter_id)
  if (granted.includes(null)) return wholeSight
  return { of: agentId, granted: granted.filter((id) => id !== null), topics: 'joined', blind: 'own', sealed: false }
}

/** Whether a caller may write to agents as people do, and decide in their place (web.access.steering). */
export const mayOversee = (caller: Caller): boolean => of(caller).oversees

/** Whether a caller has the operator's token: it decides for all agents, and programs with it post to the pages. */
export const mayOperate = (caller: Caller): boolean => of(caller).operates

/** The operator's token at a command line counts as a person, as the command line beside the store does (cli.people.person). */
export const atCommandLine = (caller: Caller): Caller => (mayOperate(caller) ? person : caller)

export function needPerson(caller: Caller): void {
  if (mayOversee(caller)) return
  throw new HubError('FORBIDDEN', 'This is for people: log in first.', {
    hint: 'Log in at /mail/login with the token of the operator; at the command line, unset PARLEY_API_KEY, leave out --agent, and use the token of the operator (`parley token`) where a key of the server is stored.',
  })
}
