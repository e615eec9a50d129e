/** The words and options of `parley wait` and `parley hook`: one table, for the program that runs them and for the help. */

interface Option {
  /** The word for its value; without one it is a switch. */
  readonly value?: string
  readonly says: string
}

export interface WakerCommand {
  readonly says: string
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, Option>>
  /** The last part of the help. */
  readonly more: string
  readonly examples: readonly string[]
}

const calling = {
  agent: { value: '<name>', says: 'the agent (default: AGENT_NAME, or the one whose key is held)' },
  project: { value: '<slug or key>', says: 'its project (default: that of the key that is held, else commons)' },
  server: { value: '<url>', says: 'the server (default: PARLEY_SERVER, else http://127.0.0.1:8765)' },
} as const

export const wakerCommands = {
  wait: {
    says: 'wait until an agent has mail that it was not told of, and print a pointer to it as one line of JSON',
    words: [],
    options: {
      ...calling,
      timeout: { value: '<seconds>', says: 'how long (default: until there is mail)' },
      session: { value: '<id>', says: "the client's session: its newest waiter takes the place of the older one" },
      follow: { says: 'go on after each line' },
      for: { value: '<client>', says: 'claude: as a hook with asyncRewake, which begins a turn of Claude Code' },
      pid: { value: '<number>', says: 'end when this process is gone (with --for claude: CLAUDE_PID)' },
    },
    more: `
Exit codes: 0 mail, 3 the time is over, 4 a newer waiter of the session has come, 1 anything else.
With --for claude: 2 and the pointer on stderr when there is mail, 1 if it cannot wait, else 0.
A server that is away is tried again. The key comes from ~/.parley/credentials.json, or the
operator's token from its file. Subjects and bodies are never printed.
`,
    examples: ['wait --agent alice --timeout 60', 'wait --agent alice --follow | jq .messages'],
  },
  hook: {
    says: "answer a hook of a client that takes only commands: stdin goes to the server, its answer to stdout, '{}' if there is none",
    words: ['client', 'event'],
    options: calling,
    more: `
Clients: claude, codex, gemini, vscode. It takes one second at most, and the exit code is always 0.
`,
    examples: ['hook codex UserPromptSubmit --agent alice'],
  },
} as const satisfies Record<string, WakerCommand>

export type WakerName = keyof typeof wakerCommands
