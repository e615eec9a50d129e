/** The caller of the mail door and its project, as its connection tells: key or token, header, URL, folder of the client. */
import { nameKey } from '../../base/names.ts'
import { agentOf } from '../../core/access/rules.ts'
import { findSelf, isSameProject, selfInFolder } from '../../core/agents/connection.ts'
import type { Hub } from '../../core/hub/hub.ts'
import type { CallContext, Connection } from '../mcp/table.ts'
import { parseAddress } from '../words/addresses.ts'
import { greet } from '../words/greeting.ts'
import type { MailScope } from './scope.ts'

type Context = Pick<CallContext<MailScope>, 'caller' | 'scope'>

function tells({ caller, scope: { name, project } }: Context) {
  const aloud = name !== undefined || project !== undefined
  if (agentOf(caller) !== undefined) return { agent: true, project: true, aloud }
  return { agent: name !== undefined, project: project !== undefined, aloud }
}

/** Whether the arguments that name the caller and its project are left out. */
export const isTold = (context: Context): boolean => {
  const { agent, project } = tells(context)
  return agent && project
}

export const mailConnection = (hub: Hub): Connection<MailScope> => ({
  tells,

  async self({ caller, scope }, folder) {
    const self = await findSelf(hub, caller, scope)
    const path = self.project === undefined ? await folder?.() : undefined
    return path === undefined ? self : selfInFolder(hub, caller, self, path)
  },

  async agrees({ caller }, self, given) {
    const { project = '' } = self
    if (given.project !== undefined) return isSameProject(hub, caller, given.project, project)
    const [name, home] = parseAddress(given.name ?? '')
    if (nameKey(name.trim()) !== nameKey(self.name ?? '')) return false
    return home === undefined || isSameProject(hub, caller, home, project)
  },
})

export const steps = {
  read: 'Read them with fetch_inbox.',
  begin: 'Call macro_start_session first.',
} as const

export const greetMail = (hub: Hub, { caller, scope }: Context) => greet(hub, caller, scope, steps)
