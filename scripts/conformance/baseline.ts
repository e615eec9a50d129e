/** The scenarios of the suite that a revision does not require of servers and that Parley does not pass, each with its reason. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const asking = 'No task asks its client for anything: an agent is asked by a message, which outlives the call.'
const flat = 'Advertised schemas are flat, without $ref, $defs and combinations: some clients drop tools that are not.'

/** One that passes must not stand here: the run fails until it is taken out. */
export const baseline: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '2025-11-25': {
    'json-schema-2020-12': flat,
    'server-sse-polling': 'It checks nothing at a server that does not end its streams early.',
  },
  '2026-07-28': {
    'tasks-lifecycle': 'An unforeseen fault of a tool is a result with isError, as in every other call; no task fails.',
    'tasks-mrtr-input': asking,
    'tasks-dispatch-and-envelope': asking,
    'tasks-status-notifications': 'It checks nothing at a server that sends none; clients poll.',
    'tasks-required-task-error': 'No tool needs to be a task: a client without the extension waits.',
    'tasks-mrtr-composition': asking,
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
