/** The claims of a token: its agent or subject, and its rights. */
import { createHash } from 'node:crypto'
import { agentNamePattern, commons, isReserved } from '../../../base/names.ts'

export interface Roles {
  /** Whether roles are asked for at all: without them everybody writes. */
  readonly enabled: boolean
  readonly claim: string
  /** Roles that only read. One that stands in neither list writes nothing either, and is perhaps misspelt. */
  readonly readers: readonly string[]
  readonly writers: readonly string[]
  /** Roles that see everything and write nothing, whatever other roles stand beside them. */
  readonly auditors: readonly string[]
  /** The role of a token that names none. */
  readonly fallback: string
  /** Whether scopes stand for roles. */
  readonly scopes: boolean
}

export const scopes = { read: 'parley:read', write: 'parley:write' } as const

/** A token is not taken; the message tells its owner the reason, and holds no part of the token. */
export class BadToken extends Error {}

export type Claims = Readonly<Record<string, unknown>>

/** Throws a BadToken where the claims name nobody who could call. */
export function readClaims(claims: Claims, roles: Roles) {
  return {
    agent: agentOf(claims.agent),
    subject: subjectOf(claims.sub),
    mayWrite: mayWrite(claims, roles),
    auditor: isAuditor(claims, roles),
  }
}

function agentOf(claim: unknown) {
  if (claim === undefined || claim === null) return undefined
  const [, name = '', project = commons] = (typeof claim === 'string' && /^([^@]*)(?:@(.+))?$/s.exec(claim)) || []
  if (!agentNamePattern.test(name) || isReserved(name)) throw new BadToken('The token names no agent that can be.')
  return { name, project }
}

/** A session and a bucket go by the subject, and so does the log of changes: it is kept short and plain. */
function subjectOf(claim: unknown): string {
  if (claim === undefined || claim === null) return ''
  if (typeof claim !== 'string') throw new BadToken('The subject of the token is no text.')
  return /^[\x21-\x7e]{1,100}$/.test(claim) ? claim : createHash('sha256').update(claim).digest('hex')
}

/** Roles of a token that no setting names. */
export const strangeRoles = (claims: Claims, { claim, readers, writers, auditors }: Roles): string[] =>
  textsOf(claims[claim]).filter((role) => ![...readers, ...writers, ...auditors].includes(role))

/** The token itself has to name the role: nobody sees everything by default. */
const isAuditor = (claims: Claims, { enabled, claim, auditors }: Roles): boolean =>
  enabled && textsOf(claims[claim]).some((role) => auditors.includes(role))

function mayWrite(claims: Claims, { enabled, claim, writers, fallback, scopes: asked }: Roles): boolean {
  const granted = textsOf(claims.scope ?? claims.scp).flatMap((text) => text.split(' '))
  const scoped = claims.scope !== undefined || claims.scp !== undefined
  // A scope without parley:write narrows the token, whatever role its owner has.
  if (scoped && !granted.includes(scopes.write)) return false
  if (!enabled) return true
  const named = textsOf(claims[claim])
  if (named.length > 0) return named.some((role) => writers.includes(role))
  if (asked && granted.includes(scopes.write)) return true
  return writers.includes(fallback)
}

const textsOf = (claim: unknown): string[] =>
  (Array.isArray(claim) ? claim : [claim]).filter((one) => typeof one === 'string' && one !== '')
