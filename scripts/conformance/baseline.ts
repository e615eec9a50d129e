/** The scenarios of the suite that a revision does not require of servers and that Parley does not pass, each with its reason. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const tasks = 'The suite brings tools of its own, which no door has; tasks are tested at the hub door with the SDK.'
const flat = 'Advertised schemas are flat, without $ref, $defs and combinations: some clients drop tools that are not.'

/** One that passes must not stand here: the run fails until it is taken out. */
export const baseline: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '2025-11-25': {
    'json-schema-2020-12': flat,
    'server-sse-polling': 'It checks nothing at a server that does not end its streams early.',
  },
  '2026-07-28': {
    'tasks-lifecycle': tasks,
    'tasks-capability-negotiation': tasks,
    'tasks-wire-fields': tasks,
    'tasks-request-state-removal': tasks,
    'tasks-mrtr-input': tasks,
    'tasks-request-headers': tasks,
    'tasks-dispatch-and-envelope': tasks,
    'tasks-status-notifications': tasks,
    'tasks-required-task-error': tasks,
    'tasks-mrtr-composition': tasks,
    'json-schema-2020-12': flat,
    'http-custom-header-server-validation': 'No tool of Parley declares a header for an argument.',
  },
}

const folder = new URL('../../node_modules/@modelcontextprotocol/conformance/requirements/', import.meta.url)

export interface Scenarios {
  readonly required: readonly string[]
  /** Run and reported by the suite, and not part of the revision. */
  readonly others: readonly string[]
}

/** The scenarios for servers, by the suite's own list. */
export async function scenariosOf(revision: string): Promise<Scenarios> {
  const text = await readFile(fileURLToPath(new URL(`${revision}.yaml`, folder)), 'utf8')
  const [, servers = ''] = /^server:\n((?: {2}- .*\n)+)/m.exec(text) ?? []
  const required = servers.match(/[\w-]+(?=\n)/g)
  if (required === null) throw new Error(`The suite requires nothing of servers in ${revision}.`)
  const others = [...text.matchAll(/- scenario: (\S+)\n\s+leg: server\n/g)].map(([, name = '']) => name)
  return { required, others }
}
