/** Callers; their rights are in `rules.ts`. */
import { type Actor, itself } from '../hub/commit.ts'

/** `key` is a short stable text: the feed names the caller by it, and a session is bound to it. */
export type Caller = Actor &
  (
    | { readonly kind: 'local' } // without credentials: on stdio, or from loopback to a loopback name, past no proxy
    | { readonly kind: 'operator'; readonly person?: string } // HTTP_BEARER_TOKEN, or a login at the pages, perhaps with a name
    | { readonly kind: 'person' } // a form of the pages, sent from this machine while no token is set
    | AgentCaller
    | { readonly kind: 'writer' } // a signed token that names no agent
    | { readonly kind: 'reader' } // the same, for looking only
    | { readonly kind: 'auditor' } // a signed token with the role of an auditor
    | { readonly kind: 'hub' } // Parley itself, which no request can be
  )

/** The key of an agent, or a signed token that names it. */
export interface AgentCaller extends Actor {
  readonly kind: 'agent'
  readonly agentId: number
  readonly projectId: number
  /** The agent of a token that is not there yet: its ids are 0, and its first write makes it. */
  readonly unmade?: Named
}

/** The agent that a signed token names; `project` is a slug or key. */
export interface Named {
  readonly name: string
  readonly project: string
}

export const local: Caller = { kind: 'local', key: 'local' }
export const operator: Caller = { kind: 'operator', key: 'operator' }
/** A login with a name. */
export const namedOperator = (person: string): Caller => ({ kind: 'operator', key: 'operator', person })
export const person: Caller = { kind: 'person', key: 'person' }
export const housekeeper: Caller = { kind: 'hub', ...itself }

export const agentCaller = ({ id, projectId }: { id: number; projectId: number }): Caller => ({
  kind: 'agent',
  key: `agent:${id}`,
  agentId: id,
  projectId,
})

/** The caller of a signed token that names an agent. */
export const namedCaller = (key: string, named: Omit<AgentCaller, 'kind' | 'key'>): Caller => ({
  kind: 'agent',
  key,
  ...named,
})

/** The caller of a signed token that names no agent. */
export const tokenCaller = (key: string, mayWrite: boolean): Caller =>
  mayWrite ? { kind: 'writer', key } : { kind: 'reader', key, readOnly: true }

/** The caller of a signed token that sees everything. Its key is like no other: nobody else takes over its sessions and tasks. */
export const auditorCaller = (subject: string): Caller => ({
  kind: 'auditor',
  key: `auditor:${subject}`,
  readOnly: true,
})
