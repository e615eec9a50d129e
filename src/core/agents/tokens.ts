/** The caller of a signed token: the agent that it names, or a reader, writer or auditor without one. */
import { HubError } from '../../base/errors.ts'
import { nameKey } from '../../base/names.ts'
import { auditorCaller, type Caller, housekeeper, type Named, namedCaller, tokenCaller } from '../access/callers.ts'
import { needWriting, unmadeAgent } from '../access/rules.ts'
import { commit } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { findPlace, findProjectCalled } from '../projects/projects.ts'
import { type ContactPolicy, findIn, known, makeAgent } from './agents.ts'

/** The contents of a valid token. */
interface Signed {
  readonly agent: Named | undefined
  /** Whom it was issued to, where it names no agent. */
  readonly subject: string
  readonly mayWrite: boolean
  /** Whether it sees everything and writes nothing, whatever else it says. */
  readonly auditor: boolean
}

/** The key is made of what the token says and never of the token: a renewed one keeps its sessions (all.token.renewed). */
export async function callerOfToken(hub: Hub, { agent, subject, mayWrite, auditor }: Signed): Promise<Caller> {
  if (auditor) return auditorCaller(subject)
  if (agent === undefined) return tokenCaller(`token:${subject}`, mayWrite)
  const { name, project } = agent
  const home = await findProjectCalled(hub, project)
  const found = home && (await findIn(hub, home.id, name))
  const key = `named:${nameKey(name)}@${project}`
  return found === undefined
    ? namedCaller(key, { agentId: 0, projectId: home?.id ?? 0, unmade: agent, readOnly: !mayWrite })
    : namedCaller(key, { agentId: found.id, projectId: found.projectId, readOnly: !mayWrite })
}

/** Makes the agent that a token names, where it is not there yet: whoever issued the token has vouched for it (all.token.makes). */
export async function settle(hub: Hub, caller: Caller, policy: ContactPolicy): Promise<Caller> {
  const unmade = unmadeAgent(caller)
  if (unmade === undefined) return caller
  needWriting(caller)
  const { name, project } = unmade
  const place = await findPlace(hub, housekeeper, project).catch((error: unknown) => {
    // The projects that there are would stand in the hint.
    if (!(error instanceof HubError) || error.code !== 'PROJECT_NOT_FOUND') throw error
    throw new HubError('PROJECT_NOT_FOUND', 'The project that your token names does not exist.')
  })
  const newcomer = { place, name, policy, unseen: false }
  const { id, projectId } = known(hub, await commit(hub, caller, (tx, note) => makeAgent(hub, tx, note, newcomer)))
  return namedCaller(caller.key, { agentId: id, projectId, readOnly: false })
}
