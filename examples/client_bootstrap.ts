/**
 * How a program mounts Parley's mail tools for a model: a few at a time, and macros for small ones. Beside `npm start`:
 *   node bin/node24.js examples/client_bootstrap.ts messaging
 * examples/client_bootstrap.py is the same without any package.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

export interface Bootstrapped {
  /** The clusters that there are. */
  clusters: string[]
  /** The tools to mount for this phase of the work. */
  tools: string[]
  /** Calls and failures of these tools so far: many failures call for a macro, or for more guidance. */
  metrics: { name: string; calls: number; errors: number }[]
  /** The last calls of this agent, to be shown. */
  recent: number
}

export interface Bootstrap {
  url: string
  /** The phase of the work, by the name of its cluster. */
  cluster: string
  /** Small models get the macros of all clusters instead of single steps. */
  small?: boolean
  agent?: string
  project?: string
}

interface Directory {
  clusters: { name: string; tools: { name: string }[] }[]
}

export async function bootstrap({ url, cluster, small = false, agent, project }: Bootstrap): Promise<Bootstrapped> {
  const client = new Client({ name: 'example-bootstrap', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
  const read = async <Document>(uri: string): Promise<Document> => {
    const { contents } = await client.readResource({ uri })
    return JSON.parse((contents[0] as { text: string }).text) as Document
  }
  try {
    // 1. What there is, before any tool is shown to the model.
    const { clusters } = await read<Directory>('resource://tooling/directory')
    const names = clusters.map(({ name }) => name)
    // 2. Only the cluster of this phase; 4. for a small model, the macros.
    const active = clusters.find(({ name }) => name === cluster)
    if (active === undefined) throw new Error(`There is no cluster ${cluster}: ${names.join(', ')}.`)
    const macros = clusters.flatMap(({ tools }) => tools).filter(({ name }) => name.startsWith('macro_'))
    const tools = [...new Set((small ? macros : active.tools).map(({ name }) => name))]
    // 3. How they fare.
    const { tools: used } = await read<{ tools: Bootstrapped['metrics'] }>('resource://tooling/metrics')
    // 5. What was done lately.
    const of = new URLSearchParams({ ...(agent && { agent }), ...(project && { project }) })
    const { count } = await read<{ count: number }>(`resource://tooling/recent/60${of.size > 0 ? `?${of}` : ''}`)
    return { clusters: names, tools, metrics: used.filter(({ name }) => tools.includes(name)), recent: count }
  } finally {
    await client.close()
  }
}

if (import.meta.main) {
  const [cluster = 'messaging', ...flags] = process.argv.slice(2)
  const url = process.env.PARLEY_URL ?? 'http://127.0.0.1:8765'
  console.log(JSON.stringify(await bootstrap({ url, cluster, small: flags.includes('--small') })))
}
