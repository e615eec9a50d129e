/** What each kind of caller may do: every verb asks here, and docs/access.md shows what that comes to. */
import { HubError } from '../../base/errors.ts'
import { isReserved } from '../../base/names.ts'
import type { Sight } from '../../store/visibility.ts'
import type { Eyes } from '../../store/watching.ts'
import { readOnlyRefusal } from '../hub/commit.ts'
import { type Caller, tokenCaller } from './callers.ts'

/** An agent as far as it decides who may act as it. */
export interface Owned {
  readonly id: number
  readonly name: string
  /** Whether it has or had a key. */
  readonly keyed: boolean
}

/** Callers without an agent of their own: they act as any agent that is nobody else's. */
export const isUnnamed = ({ kind }: Caller): boolean => kind === 'local' || kind === 'writer' || kind === 'reader'

export function mayActAs(caller: Caller, agent: Owned): boolean {
  switch (caller.kind) {
    case 'operator':
    case 'hub':
      return true
    case 'local':
    case 'writer':
    case 'reader':
      return !agent.keyed && !isReserved(agent.name)
    case 'person':
      return isReserved(agent.name)
    case 'agent':
      return agent.id === caller.agentId
  }
}

/** Whether an agent calls for itself: by its own key, or by a signed token that names it. */
export const isItself = (caller: Caller, { id }: Pick<Owned, 'id'>): boolean =>
  caller.kind === 'agent' && caller.agentId === id

/** For verbs that change something: they refuse a reader before they look for anything. */
export function needWriting(caller: Caller): void {
  if (caller.readOnly) throw readOnlyRefusal()
}

/** The same caller for a call that the operator lets readers make though it writes (all.roles.listed). */
export const asWriter = (caller: Caller): Caller =>
  caller.kind === 'reader' ? tokenCaller(caller.key, true) : { ...caller, readOnly: false }

/** Whether a caller may look into a project: at its agents, leases and topics. */
export const mayEnter = (caller: Caller, projectId: number): boolean =>
  caller.kind !== 'agent' || caller.projectId === projectId

/** Whether a caller goes anywhere: it may make projects and identities, and is told of all projects. */
export const mayRoam = (caller: Caller): boolean => caller.kind !== 'agent'

/** For those who may see how the server is doing, and who calls what. */
export function needOversight(caller: Caller): void {
  if (caller.kind === 'agent') throw notForAgents()
}

/** For those who may remove what belongs to all, and reach files of this machine. */
export function needSteering(caller: Caller): void {
  if (caller.kind === 'agent') throw notForAgents()
  if (caller.kind !== 'writer' && caller.kind !== 'reader') return
  throw new HubError('FORBIDDEN', 'Whoever calls with a signed token may not do this.', { hint: askPerson })
}

const askPerson = 'Ask a person: it is for local callers and for the operator.'

const notForAgents = (): HubError =>
  new HubError('FORBIDDEN', 'Whoever calls with the key of an agent may not do this.', {
    reason: 'keyed',
    hint: askPerson,
  })

/** Whether files of this machine are read for a caller: a key or a token comes from anywhere (mail.attach.callers). */
export const mayReadFiles = ({ kind }: Caller): boolean => kind === 'local' || kind === 'operator'

/** Which messages of a project a caller may read. */
export function sightOf(caller: Caller, projectId: number): Sight {
  switch (caller.kind) {
    case 'operator':
    case 'hub':
      return { projectId, of: 'everybody' }
    case 'local':
    case 'person':
    case 'writer':
    case 'reader':
      return { projectId, of: 'keyless' }
    case 'agent':
      return { projectId, of: caller.agentId }
  }
}

/** What a caller sees of the mail on the pages (web.access.sight). */
export function eyesOf(caller: Caller): Eyes {
  switch (caller.kind) {
    case 'operator':
    case 'hub':
      return { of: 'everybody', blind: true, seals: false }
    case 'local':
    case 'person':
      return { of: 'everybody', blind: true, seals: true }
    case 'writer':
    case 'reader':
      return { of: 'everybody', blind: false, seals: true }
    case 'agent':
      return { of: { agentId: caller.agentId, projectId: caller.projectId }, blind: false, seals: false }
  }
}

/** Whether a caller may write to agents as people do, and decide in their place (web.access.steering). */
export const mayOversee = ({ kind }: Caller): boolean => kind === 'operator' || kind === 'person'

export function needPerson(caller: Caller): void {
  if (mayOversee(caller)) return
  throw new HubError('FORBIDDEN', 'This is for people: log in first.', {
    hint: 'Log in at /mail/login with the token of the operator.',
  })
}
