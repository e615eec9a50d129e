/** The resources of the mail door about its own tools: their list, their use, the rights of a caller. */

import { z } from 'zod'
import { nameKey } from '../../../base/names.ts'
import { listHeldChores } from '../../../core/access/held-chores.ts'
import { mayRoam, needOversight } from '../../../core/access/rules.ts'
import { canActAs } from '../../../core/agents/acting.ts'
import { needAgent, needHome } from '../../../core/agents/agents.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { needProject } from '../../../core/projects/projects.ts'
import { inputSchema } from '../../mcp/schema.ts'
import type { Resource, Tool } from '../../mcp/table.ts'
import { briefly, type Call } from '../../mcp/usage.ts'
import { agentAddress } from '../../words/fields.ts'
import { readParameters } from '../../words/parameters.ts'
import { iso, isoOrNull } from '../../words/times.ts'
import type { About } from '../about.ts'
import { aliases, clusters, offers, playbooks } from '../clusters.ts'
import { agentParameter, otherAgent, projectParameter } from '../fields.ts'
import type { MailScope } from '../scope.ts'

type Row = Pick<Tool<MailScope>, 'name' | 'title' | 'cluster' | 'effect' | 'input'>

interface Tooling {
  readonly hub: Hub
  readonly about: About
  /** Every tool of the door. */
  readonly tools: readonly Row[]
}

const window = 'must be a whole number of seconds from 1 to 604800'

const parameters = {
  recent: z.object({
    window_seconds: z.coerce.number(window).int(window).min(1, window).max(604_800, window),
    agent: agentAddress.optional(),
    project: projectParameter.optional(),
  }),
  capabilities: z.object({ agent: agentParameter, project: projectParameter.optional() }),
}

/** As many as fit into one answer that clients show whole. */
const mostEntries = 200

export function toolingResources({ hub, about, tools }: Tooling): Resource<MailScope>[] {
  const now = () => iso(hub.clock.now())
  const { usage } = about
  return [
    {
      uri: 'resource://config/environment',
      name: 'environment',
      description: 'How this server is set up; nothing secret.',
      async read(_params, { caller }) {
        needOversight(caller)
        const { environment, databaseUrl, version, http } = about
        return {
          environment,
          database_url: databaseUrl,
          http: { host: http.host, port: http.port, path: http.path },
          version,
          tools_log_enabled: usage.noting,
        }
      },
    },
    {
      uri: 'resource://tooling/directory',
      name: 'tool directory',
      description: 'The tools in clusters, and playbooks: the order of calls for common work.',
      read: async () => ({
        generated_at: now(),
        metrics_uri: 'resource://tooling/metrics',
        clusters: directory(tools),
        playbooks,
        offers: Object.fromEntries(Object.entries(offers).map(([name, offer]) => [name, [...offer.tools]])),
      }),
    },
    {
      uri: 'resource://tooling/schemas',
      name: 'tool schemas',
      description: 'The arguments of each tool: required, optional, and other names they are taken by.',
      read: async () => ({ tools: Object.fromEntries(tools.map((tool) => [tool.name, argumentsOf(tool)])) }),
    },
    {
      uri: 'resource://tooling/metrics',
      name: 'tool metrics',
      description: 'How often each tool was called and failed since this process started.',
      async read(_params, { caller }) {
        needOversight(caller)
        const counted = usage.tools('mail')
        return {
          generated_at: now(),
          tools: counted.map(({ name, cluster, calls, errors }) => ({ name, cluster, calls, errors })),
        }
      },
    },
    {
      uri: 'resource://tooling/locks',
      name: 'locks',
      description: 'The background jobs that some process holds right now, and which process archives.',
      async read(_params, { caller }) {
        const held = await listHeldChores(hub, caller)
        const locks = held.map(({ name, holder, until }) => ({ name, owner: holder, held_until: isoOrNull(until) }))
        return { locks, summary: { total: locks.length } }
      },
    },
    {
      uri: 'resource://tooling/capabilities/{agent}{?project}',
      name: 'capabilities',
      description: 'Your rights as this agent, as cluster:read and cluster:write.',
      own: { agent: 'agent', project: 'project' },
      async read(params, { scope, caller }) {
        const { agent: called, project: given } = readParameters(parameters.capabilities, params)
        const { name: agent, project } = otherAgent(called, given)
        const { name } = project === undefined ? { name: agent } : await needAgent(hub, caller, project, agent)
        const home = project ?? (mayRoam(caller) ? undefined : await needHome(hub, caller, agent))
        const may = home === undefined || (await canActAs(hub, { caller, project: home, name }))
        const granted = may ? capabilities(tools, scope) : []
        return { generated_at: now(), agent: name, project: project ?? null, capabilities: granted }
      },
    },
    {
      uri: 'resource://tooling/recent/{window_seconds}{?agent,project}',
      name: 'recent calls',
      description: `The calls of the last seconds, the newest first, at most ${mostEntries}; of one agent or project if asked.`,
      async read(params, { caller }) {
        // The list shows the calls of other agents.
        needOversight(caller)
        const { window_seconds, agent: called, project: given } = readParameters(parameters.recent, params)
        const { name: agent, project } =
          called === undefined ? { name: undefined, project: given } : otherAgent(called, given)
        const since = hub.clock.now() - window_seconds * 1000
        // A call may have named the project by its slug or by its key.
        const asked = project === undefined ? undefined : await needProject(hub, caller, project)
        const found = usage
          .calls()
          .filter((call) => call.at >= since)
          .filter((call) => agent === undefined || (call.agent !== undefined && isCalled(call.agent, agent)))
          .filter(({ project }) => asked === undefined || project === asked.slug || project === briefly(asked.key))
        return {
          generated_at: now(),
          window_seconds,
          count: found.length,
          entries: found.slice(0, mostEntries).map(toEntry),
          has_more: found.length > mostEntries,
          ...(found.length > mostEntries && { note: 'The newest are shown. For others name an agent or a project.' }),
        }
      },
    },
  ]
}

/** A call may have named its agent by an address. */
const isCalled = (called: string, name: string): boolean => nameKey(otherAgent(called).name) === nameKey(name)

const toEntry = ({ tool, at, ms, outcome, project, agent }: Call) => ({
  timestamp: iso(at),
  tool: tool.name,
  cluster: tool.cluster,
  project: project ?? null,
  agent: agent ?? null,
  outcome,
  duration_ms: ms,
})

/** In the order of the table of clusters; the tools in the order of the door. */
const directory = (tools: readonly Row[]) =>
  Object.entries(clusters).map(([name, purpose]) => ({
    name,
    purpose,
    tools: tools
      .filter((tool) => tool.cluster === name)
      .map(({ name, title, effect }) => ({ name, summary: title, effect })),
  }))

function argumentsOf({ name, input }: Row) {
  const schema = inputSchema({ input })
  const required = (schema.required ?? []) as string[]
  const all = Object.keys(schema.properties ?? {})
  return { required, optional: all.filter((argument) => !required.includes(argument)), aliases: aliases[name] ?? {} }
}

/** Local callers and the operator may read and write; a tool that is not offered at this URL cannot be called. */
function capabilities(tools: readonly Row[], { tools: wanted }: MailScope): string[] {
  const offered = wanted === 'all' ? tools : tools.filter(({ name }) => offers[wanted].tools.has(name))
  return [...new Set(offered.map(({ cluster, effect }) => `${cluster}:${effect}`))].sort()
}
