/** The parts of README.md, docs/clients.md and docs/agents-md.md that come from the table of `parley init`. */
import { agentsBlock } from '../../src/client-settings/agents-block.ts'
import { type Client, serverName } from '../../src/client-settings/client.ts'
import { clientNames, clientOf } from '../../src/client-settings/clients.ts'
import { httpServer } from '../../src/client-settings/setup.ts'
import type { Json } from '../../src/client-settings/shapes.ts'
import { between, code, table } from './markdown.ts'

const url = 'http://127.0.0.1:8765/mcp'
const places = { home: '~', folder: '.', env: {}, platform: 'linux' }

const serverOf = (client: Client) => httpServer(client, { url })

/** `{"mcpServers": {"parley": {…}}}`, on one line. */
function entryText(client: Client): string {
  const { path } = client.user(places)
  const entry = [...path, serverName].reduceRight<Json>(
    (inner, key) => ({ [key]: inner }),
    client.http(serverOf(client)),
  )
  return JSON.stringify(entry, null, 1)
    .replace(/\n\s*/g, ' ')
    .replace(/([{[]) | (?=[}\]])/g, '$1')
}

function rowOf(client: Client): string[] {
  const command = client.byHand?.(serverOf(client))
  return [client.title, code(command ?? entryText(client)), command === undefined ? code(client.user(places).file) : '']
}

/** The clients that have a command of their own. */
export const renderReadmeClients = (readme: string): string =>
  between(readme, {
    ...{ name: 'clients', file: 'README.md' },
    text: table(
      ['client', 'one line'],
      clientNames
        .map(clientOf)
        .filter(({ byHand }) => byHand !== undefined)
        .map((client) => rowOf(client).slice(0, 2)),
    ),
  })

export const renderClients = (page: string): string =>
  between(page, {
    ...{ name: 'clients', file: 'docs/clients.md' },
    text: table(['client', 'one line, or an entry', 'in'], clientNames.map(clientOf).map(rowOf)),
  })

export const renderAgentsPage = (page: string): string =>
  between(page, {
    ...{ name: 'block', file: 'docs/agents-md.md' },
    text: ['```markdown', ...agentsBlock.lines, '```'].join('\n'),
  })
