/** The clients that are woken: which package, how each is told of the scripted model, and how its window is started and ended. */
import { join } from 'node:path'
import type { Terminal } from './terminal.ts'

export interface Place {
  readonly home: string
  readonly folder: string
  readonly model: string
  /** Where payloads are recorded. */
  readonly recorder: string | undefined
}

export interface WakeClient {
  readonly name: 'claude' | 'codex' | 'gemini' | 'opencode'
  readonly title: string
  readonly package: string
  readonly version: string
  /** Its program, where that is not its name. */
  readonly bin?: string
  /** The way in that init sets up. */
  readonly way: string
  /** Settings that a user has before init: who pays, which model, that the folder is trusted. By their path. */
  readonly files: (place: Place) => Readonly<Record<string, string>>
  readonly env: (place: Place) => Readonly<Record<string, string>>
  readonly args: readonly string[]
  /** Questions at the start, and the keys that answer them. */
  readonly questions: readonly { readonly asks: RegExp; readonly keys: readonly string[] }[]
  readonly ready: RegExp
  end(terminal: Terminal): Promise<void>
  /** A window under another name, where the variable AGENT_NAME does not name it. */
  readonly named?: (name: string) => readonly string[]
  /** How a fresh one is started for a prompt, by `parley run`. */
  readonly print?: readonly string[]
  /** Whether its turns are compared with those of a window that has no hooks. */
  readonly comparesTurns?: true
  /** Whether `init --hold` holds the end of its turns. */
  readonly holds?: true
  /** Requests beside the turn, for a title say. */
  readonly aside?: RegExp
  /** Processes that belong to no window and go on without it. */
  readonly stays?: RegExp
}

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`

export const wakeClients: readonly WakeClient[] = [
  {
    name: 'claude',
    title: 'Claude Code',
    package: '@anthropic-ai/claude-code',
    version: '2.1.325',
    way: 'command hook with `asyncRewake`',
    files: ({ home, folder, recorder }) => ({
      // The waiter of init is the only hook of this event, and does not pass its payload on.
      ...(recorder !== undefined && {
        [join(home, '.claude', 'settings.json')]: json({
          hooks: { Stop: [{ hooks: [{ type: 'http', url: `${recorder}/hooks/claude/Stop?agent=Nobody` }] }] },
        }),
      }),
      [join(home, '.claude.json')]: json({
        hasCompletedOnboarding: true,
        theme: 'dark',
        customApiKeyResponses: { approved: ['dummy'], rejected: [] },
        projects: { [folder]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
      }),
    }),
    env: ({ model }) => ({
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: 'dummy',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      ENABLE_TOOL_SEARCH: 'false',
    }),
    args: [],
    questions: [
      { asks: /Do you trust|trust this folder/i, keys: ['Enter'] },
      { asks: /Do you want to use this API key/, keys: ['Up', 'Enter'] },
      { asks: /Press Enter to continue/i, keys: ['Enter'] },
    ],
    ready: /^\s*[│┃]?\s*[>❯]/m,
    async end(terminal) {
      await terminal.type('/exit')
    },
    comparesTurns: true,
    print: ['claude', '-p', '{prompt}', '--allowedTools', 'mcp__parley__*'],
  },
  {
    name: 'codex',
    title: 'Codex',
    package: '@openai/codex',
    version: '0.166.0',
    way: '`codex queue`, by `parley attach`',
    files: ({ home, folder, model }) => ({
      [join(home, '.codex', 'config.toml')]: [
        'model = "scripted"',
        'model_provider = "scripted"',
        'approval_policy = "never"',
        'sandbox_mode = "danger-full-access"',
        'check_for_update_on_startup = false',
        '',
        '[model_providers.scripted]',
        'name = "scripted"',
        `base_url = "${model}/v1"`,
        'wire_api = "responses"',
        '',
        `[projects.${JSON.stringify(folder)}]`,
        'trust_level = "trusted"',
        '',
      ].join('\n'),
    }),
    env: () => ({}),
    args: [],
    questions: [
      { asks: /Trust all and continue/, keys: ['Down', 'Enter'] },
      { asks: /Do you trust/, keys: ['Enter'] },
    ],
    ready: /^\s*› (?!\d\.)/m,
    async end(terminal) {
      await terminal.type('/quit')
    },
    named: (name) => ['-c', `mcp_servers.parley.http_headers.X-Parley-Agent=${name}`],
    aside: /Generate a concise, single-line task title/,
    stays: /codex/,
  },
  {
    name: 'opencode',
    title: 'OpenCode',
    package: 'opencode-ai',
    version: '1.18.33',
    way: 'plugin, `session.promptAsync`',
    files: ({ home, model }) => ({
      [join(home, '.config', 'opencode', 'opencode.json')]: json({
        model: 'scripted/echo',
        small_model: 'scripted/echo',
        autoupdate: false,
        provider: {
          scripted: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${model}/v1`, apiKey: 'dummy' },
            models: { echo: { name: 'echo' } },
          },
        },
      }),
    }),
    env: () => ({}),
    args: [],
    questions: [],
    ready: /Ask anything/,
    async end(terminal) {
      await terminal.keys('C-c')
    },
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    package: '@google/gemini-cli',
    version: '0.61.0',
    way: 'keys in tmux, by `parley attach`',
    files: ({ home }) => ({
      [join(home, '.gemini', 'settings.json')]: json({
        security: { auth: { selectedType: 'gemini-api-key' } },
        general: { disableAutoUpdate: true },
        ui: { hideTips: true },
      }),
    }),
    env: ({ model }) => ({
      GEMINI_API_KEY: 'dummy',
      GOOGLE_GEMINI_BASE_URL: model,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    }),
    args: ['-m', 'gemini-2.5-flash'],
    questions: [{ asks: /Do you trust/, keys: ['Enter'] }],
    ready: /Type your message/,
    async end(terminal) {
      await terminal.type('/quit')
    },
    holds: true,
  },
]
