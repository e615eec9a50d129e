/** The clients that init knows, a row each. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, type HttpServer, type Places, type Scope, type Site, serverName } from './client.ts'
import { claudeHooks, codexHooks, geminiHooks, opencodeHooks } from './hooks.ts'
import type { Json } from './shapes.ts'

const commandAndArgs = (command: string, args: readonly string[]): Json => ({ command, args })

const json = (file: string, ...path: string[]): Site => ({ file, format: 'json', path })

const claudeFolder = ({ home, env }: Places): string => env.CLAUDE_CONFIG_DIR || join(home, '.claude')
/** Of this machine alone: the file of a folder that is shared is settings.json. */
const claudeSettings = (places: Places, scope: Scope): string =>
  scope === 'user' ? join(claudeFolder(places), 'settings.json') : join(places.folder, '.claude', 'settings.local.json')
const claudeJson = ({ home, env }: Places): string => join(env.CLAUDE_CONFIG_DIR || home, '.claude.json')
/** Codex keeps in it which hooks a person trusts, of whatever file. */
export const codexFolder = ({ home, env }: Places): string => env.CODEX_HOME || join(home, '.codex')
const codexSite = (places: Places, scope: Scope): Site => ({
  file: join(scope === 'user' ? codexFolder(places) : join(places.folder, '.codex'), 'config.toml'),
  format: 'toml',
  path: ['mcp_servers'],
})
const geminiSite = ({ home, folder }: Places, scope: Scope): Site =>
  json(join(scope === 'user' ? home : folder, '.gemini', 'settings.json'), 'mcpServers')
const configFolder = ({ home, env }: Places): string => env.XDG_CONFIG_HOME || join(home, '.config')
const openclawFolder = ({ home }: Places): string => join(home, '.openclaw')

/** The one with comments, if it is there. */
function opencodeFile(places: Places, scope: Scope): string {
  const folder = scope === 'user' ? join(configFolder(places), 'opencode') : places.folder
  const commented = join(folder, 'opencode.jsonc')
  return existsSync(commented) ? commented : join(folder, 'opencode.json')
}

/** As Claude Code writes the name of a folder. */
const slashed = ({ folder, platform }: Places): string => (platform === 'win32' ? folder.replaceAll('\\', '/') : folder)

function vscodeFolder({ home, env, platform }: Places): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Code', 'User')
  if (platform === 'win32') return join(env.APPDATA || join(home, 'AppData', 'Roaming'), 'Code', 'User')
  return join(env.XDG_CONFIG_HOME || join(home, '.config'), 'Code', 'User')
}

const headerFlags = (flag: string, { headers = {} }: HttpServer): string =>
  Object.entries(headers)
    .map(([name, value]) => ` ${flag} '${name}: ${value}'`)
    .join('')

const named = (how: string, agent: string | undefined): string[] =>
  agent === undefined ? [`Name each window: ${how}. Without a name the server makes one up.`] : []

const renamed = (client: string, agent: string | undefined): string[] =>
  agent === undefined
    ? [`Give it a name: parley init ${client} --agent NAME. Without one the server makes one up.`]
    : []

const allowedThere = (where: string, allow: boolean): string[] =>
  allow ? [`Allow the tools in the client itself: ${where}.`] : []

export const clients = {
  claude: {
    title: 'Claude Code',
    programs: ['claude'],
    traces: ['.claude.json', '.claude'],
    user: (places) => json(claudeJson(places), 'mcpServers'),
    // Its local scope: of one folder, and of this user alone.
    here: (places) => json(claudeJson(places), 'projects', slashed(places), 'mcpServers'),
    http: ({ url, headers }) => ({ type: 'http', url, ...(headers && { headers }) }),
    stdio: (command, args) => ({ type: 'stdio', command, args }),
    variable: (name) => `\${${name}:-}`,
    allow: {
      elsewhere: (places, scope) => ({
        file: claudeSettings(places, scope),
        format: 'json',
        edit: { kind: 'item', path: ['permissions', 'allow'], value: `mcp__${serverName}__*` },
      }),
    },
    hooks: (places, scope, hooking) => claudeHooks(claudeSettings(places, scope), hooking),
    guidance: { here: 'CLAUDE.md', user: (places) => join(claudeFolder(places), 'CLAUDE.md') },
    byHand: (server) =>
      `claude mcp add --scope user --transport http ${serverName} ${server.url}${headerFlags('--header', server)}`,
    todo: ({ scope, agent, hooks }) => [
      ...named('AGENT_NAME=alice claude', agent),
      ...(scope === 'here' ? ['Start it in this folder: these settings are for no other.'] : []),
      hooks
        ? 'Start its windows anew: hooks are read at the start. For the tools alone: /mcp, then reconnect.'
        : 'In a window that is open: /mcp, then reconnect.',
    ],
  },
  codex: {
    title: 'Codex',
    programs: ['codex'],
    traces: ['.codex'],
    user: (places) => codexSite(places, 'user'),
    here: (places) => codexSite(places, 'here'),
    http: ({ url, headers }) => ({
      url,
      ...(headers && { http_headers: headers }),
      env_http_headers: { 'X-Parley-Run': 'PARLEY_RUN' },
    }),
    // It passes on no variable that is not named here.
    stdio: (command, args) => ({ command, args, env_vars: ['PARLEY_RUN'] }),
    // No variable for the name: its windows share a process that keeps the environment of the first one. A run is a process of its own (codex exec).
    allow: { inEntry: { default_tools_approval_mode: 'approve' } },
    hooks: (places, scope, hooking) => codexHooks(codexSite(places, scope), hooking),
    guidance: { here: 'AGENTS.md', user: (places) => join(codexFolder(places), 'AGENTS.md') },
    byHand: ({ url }) => `codex mcp add ${serverName} --url ${url}`,
    todo: ({ scope, agent, by, hooks }) => [
      ...(scope === 'here' ? ['Trust the folder when it asks: it reads .codex/config.toml only then.'] : []),
      ...renamed('codex', agent),
      ...(by === 'http'
        ? [`A second agent in the same folder: codex -c mcp_servers.${serverName}.http_headers.X-Parley-Agent=NAME`]
        : []),
      ...(hooks
        ? [
            'Trust the hooks when its window asks at your first prompt ("Trust all and continue"): before that they do nothing, and codex exec skips them silently. A new init asks again.',
          ]
        : []),
    ],
  },
  gemini: {
    title: 'Gemini CLI',
    programs: ['gemini'],
    traces: ['.gemini'],
    user: (places) => geminiSite(places, 'user'),
    here: (places) => geminiSite(places, 'here'),
    http: ({ url, headers }) => ({ httpUrl: url, ...(headers && { headers }) }),
    stdio: commandAndArgs,
    variable: (name) => `\${${name}:-}`,
    sendsRoots: true,
    allow: { inEntry: { trust: true } },
    hooks: (places, scope, hooking) => geminiHooks(geminiSite(places, scope), hooking),
    guidance: { here: 'GEMINI.md', user: ({ home }) => join(home, '.gemini', 'GEMINI.md') },
    byHand: (server) =>
      `gemini mcp add --scope user --transport http${headerFlags('-H', server)} ${serverName} ${server.url}`,
    todo: ({ agent, hooks, hold }) => [
      ...named('AGENT_NAME=alice gemini', agent),
      'Trust the folder when it asks: it leaves servers off in folders that are not trusted.',
      ...(hooks && !hold ? ['Start it in tmux: an idle window is woken by keys there, and has no other way in.'] : []),
    ],
  },
  opencode: {
    title: 'OpenCode',
    programs: ['opencode'],
    traces: ['.config/opencode', '.local/share/opencode'],
    user: (places) => json(opencodeFile(places, 'user'), 'mcp'),
    here: (places) => json(opencodeFile(places, 'here'), 'mcp'),
    http: ({ url, headers }) => ({ type: 'remote', url, enabled: true, oauth: false, ...(headers && { headers }) }),
    stdio: (command, args) => ({ type: 'local', command: [command, ...args], enabled: true }),
    variable: (name) => `{env:${name}}`,
    sendsRoots: true,
    allow: {
      elsewhere: (places, scope) => ({
        file: opencodeFile(places, scope),
        format: 'json',
        edit: { kind: 'entry', path: ['permission', `${serverName}_*`], value: 'allow' },
      }),
    },
    hooks: (places, scope, hooking) =>
      opencodeHooks(
        scope === 'user' ? join(configFolder(places), 'opencode') : join(places.folder, '.opencode'),
        hooking,
      ),
    guidance: { here: 'AGENTS.md', user: (places) => join(configFolder(places), 'opencode', 'AGENTS.md') },
    todo: ({ agent, hooks }) => [
      ...named('AGENT_NAME=alice opencode', agent),
      ...(hooks ? ['Start it anew: plugins are read at the start.'] : []),
    ],
  },
  openclaw: {
    title: 'OpenClaw',
    programs: ['openclaw'],
    traces: ['.openclaw'],
    user: (places) =>
      json(places.env.OPENCLAW_CONFIG_PATH || join(openclawFolder(places), 'openclaw.json'), 'mcp', 'servers'),
    http: ({ url, headers }) => ({ url, transport: 'streamable-http', ...(headers && { headers }) }),
    stdio: commandAndArgs,
    guidance: { here: 'AGENTS.md', user: (places) => join(openclawFolder(places), 'workspace', 'AGENTS.md') },
    todo: ({ agent, allow, hooks }) => [
      ...renamed('openclaw', agent),
      ...(hooks
        ? [`To be woken: parley attach openclaw --agent ${agent ?? 'NAME'}, with the token of its hooks.`]
        : []),
      ...allowedThere('its tool policy', allow),
      'Restart its gateway: openclaw gateway restart.',
    ],
  },
  cursor: {
    title: 'Cursor',
    programs: ['cursor', 'cursor-agent'],
    traces: ['.cursor'],
    user: ({ home }) => json(join(home, '.cursor', 'mcp.json'), 'mcpServers'),
    here: ({ folder }) => json(join(folder, '.cursor', 'mcp.json'), 'mcpServers'),
    http: ({ url, headers }) => ({ url, ...(headers && { headers }) }),
    stdio: commandAndArgs,
    guidance: { here: 'AGENTS.md' },
    todo: ({ agent, allow }) => [
      ...renamed('cursor', agent),
      ...allowedThere('the settings of its agent', allow),
      `Turn ${serverName} on in its settings, under MCP.`,
    ],
  },
  cline: {
    title: 'Cline',
    programs: ['cline'],
    traces: ['.cline'],
    user: ({ home, env }) =>
      json(
        env.CLINE_MCP_SETTINGS_PATH ||
          join(
            env.CLINE_DATA_DIR || join(env.CLINE_DIR || join(home, '.cline'), 'data'),
            'settings',
            'cline_mcp_settings.json',
          ),
        'mcpServers',
      ),
    // A URL without a type is taken for SSE.
    http: ({ url, headers }) => ({ type: 'streamableHttp', url, ...(headers && { headers }), disabled: false }),
    stdio: (command, args) => ({ command, args, disabled: false }),
    guidance: { here: 'AGENTS.md' },
    todo: ({ agent, allow }) => [...renamed('cline', agent), ...allowedThere('auto-approve of the server', allow)],
  },
  windsurf: {
    title: 'Windsurf',
    programs: ['windsurf'],
    traces: ['.codeium/windsurf'],
    user: ({ home }) => json(join(home, '.codeium', 'windsurf', 'mcp_config.json'), 'mcpServers'),
    http: ({ url, headers }) => ({ serverUrl: url, ...(headers && { headers }) }),
    stdio: commandAndArgs,
    guidance: { here: 'AGENTS.md' },
    todo: ({ agent, allow }) => [
      ...renamed('windsurf', agent),
      ...allowedThere('the settings of Cascade', allow),
      'Refresh the servers in its settings, under Cascade.',
    ],
  },
  vscode: {
    title: 'VS Code',
    programs: ['code'],
    traces: ['.vscode', '.config/Code'],
    user: (places) => json(join(vscodeFolder(places), 'mcp.json'), 'servers'),
    here: ({ folder }) => json(join(folder, '.vscode', 'mcp.json'), 'servers'),
    http: ({ url, headers }) => ({ type: 'http', url, ...(headers && { headers }) }),
    stdio: (command, args) => ({ type: 'stdio', command, args }),
    guidance: { here: 'AGENTS.md' },
    todo: ({ agent, allow }) => [
      ...renamed('vscode', agent),
      ...allowedThere('the question at the first call', allow),
      `Start the server once: MCP: List Servers, ${serverName}.`,
    ],
  },
  copilot: {
    title: 'Copilot CLI',
    programs: ['copilot'],
    traces: ['.copilot'],
    user: ({ home }) => json(join(home, '.copilot', 'mcp-config.json'), 'mcpServers'),
    http: ({ url, headers }) => ({ type: 'http', url, ...(headers && { headers }), tools: ['*'] }),
    stdio: (command, args) => ({ type: 'local', command, args, tools: ['*'] }),
    guidance: { here: 'AGENTS.md' },
    todo: ({ agent, allow }) => [
      ...renamed('copilot', agent),
      ...(allow ? [`Start it with the tools allowed: copilot --allow-tool '${serverName}'.`] : []),
    ],
  },
} as const satisfies Readonly<Record<string, Client>>

export type ClientName = keyof typeof clients

export const clientNames = Object.keys(clients) as readonly ClientName[]

/** A row without the narrow type of its own. */
export const clientOf = (name: ClientName): Client => clients[name]
