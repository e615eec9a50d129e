/** The coding agents that `npm run clients` sets up by `parley init`, and how each is run once, under a name. */
import { join } from 'node:path'
import { type Place, type WakeClient, wakeClients } from './wake/clients.ts'

export interface Named {
  readonly name: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

export interface CodingAgent {
  readonly name: string
  readonly title: string
  readonly package: string
  readonly version: string
  /** Its program, where that is not its name. */
  readonly bin?: string
  /** Settings that a user has before init, by their path. */
  readonly files: (place: Omit<Place, 'recorder'>) => Readonly<Record<string, string>>
  readonly env: (model: string) => Readonly<Record<string, string>>
  /** Options of init: the name, where no variable can carry it. */
  readonly init: (folder: string) => readonly string[]
  readonly windows: (order: string) => readonly Named[]
  /** A window whose user is asked before a tool is called, without `init --allow`; where nobody answers, it is not called. */
  readonly asking?: ((order: string) => Named | undefined) | undefined
}

const [first, second] = ['RedStone', 'GoldHarbor'] as const

/** A window under the name that the variable has. */
const byVariable = (args: readonly string[]): Named[] =>
  [first, second].map((name) => ({ name, args, env: { AGENT_NAME: name } }))

interface Once extends Pick<CodingAgent, 'init' | 'windows' | 'asking'> {
  /** Makes it ask, in the settings of its user. */
  readonly stricter?: (settings: string) => string
}

const once: Readonly<Record<WakeClient['name'], Once>> = {
  claude: { init: () => [], windows: (order) => byVariable(['-p', order, '--output-format', 'json']) },
  codex: {
    // `codex exec` asks nobody, and calls.
    asking: () => undefined,
    init: () => ['--agent', first],
    windows: (order) => [
      { name: first, args: ['exec', '--json', order] },
      {
        name: second,
        args: ['exec', '--json', '-c', `mcp_servers.parley.http_headers.X-Parley-Agent=${second}`, order],
      },
    ],
  },
  gemini: { init: () => [], windows: (order) => byVariable(['-m', 'gemini-2.5-flash', '-o', 'json', '-p', order]) },
  opencode: {
    stricter: (settings) => JSON.stringify({ ...JSON.parse(settings), permission: { '*': 'ask' } }),
    init: () => [],
    windows: (order) => byVariable(['run', '--format', 'json', order]),
  },
}

export const agents: readonly CodingAgent[] = [
  ...wakeClients.map((client): CodingAgent => {
    const { stricter = (settings) => settings, init, windows, asking } = once[client.name]
    const files = (place: Omit<Place, 'recorder'>) =>
      Object.entries(client.files({ ...place, recorder: undefined })).map(([file, text]) => [file, stricter(text)])
    return {
      ...client,
      files: (place) => Object.fromEntries(files(place)),
      env: (model) => client.env({ model, home: '', folder: '', recorder: undefined }),
      ...{ init, windows, asking: asking ?? ((order) => windows(order)[0]) },
    }
  }),
  {
    name: 'openclaw',
    title: 'OpenClaw',
    package: 'openclaw',
    version: '2026.9.6',
    files: ({ home, model }) => ({
      [join(home, '.openclaw', 'openclaw.json')]: JSON.stringify({
        models: {
          providers: {
            scripted: {
              baseUrl: `${model}/v1`,
              apiKey: 'dummy',
              api: 'openai-completions',
              models: [{ id: 'echo', name: 'echo', contextWindow: 100_000, maxTokens: 1000 }],
            },
          },
        },
        // Else the model has to search for a tool before it may call it.
        tools: { toolSearch: false },
        agents: { defaults: { model: { primary: 'scripted/echo' } } },
      }),
    }),
    env: () => ({}),
    // Its settings are those of a user, with one name and one project for all of its sessions.
    init: (folder) => ['--user', '--agent', first, '--project', folder],
    windows: (order) => [{ name: first, args: ['agent', '--local', '--agent', 'main', '--message', order] }],
  },
]
