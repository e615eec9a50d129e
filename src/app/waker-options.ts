/** The words and options of `parley wait`, `hook` and `attach`: one table, for the program that runs them and for the help. */

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
  server: { value: '<url>', says: 'the server (default: PARLEY_SERVER, else the one of this store)' },
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
      for: {
        value: '<client>',
        says: 'claude: as a hook with asyncRewake, which begins a turn; gemini: as a hook that holds the end of a turn',
      },
      pid: { value: '<number>', says: 'end when this process is gone (with --for: the client)' },
    },
    more: `
Exit codes: 0 mail, 3 the time is over, 4 a newer waiter of the session has come, 1 anything else.
With --for claude: 2 and the pointer on stderr when there is mail, 1 if it cannot wait, else 0.
With --for gemini: the pointer as the answer of the hook, 1 if it cannot wait, else 0.
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
  attach: {
    says: 'wake an idle client that has no waiter of its own: Codex by its queue, OpenClaw by its hooks, any other by keys in tmux',
    words: ['client'],
    options: {
      ...calling,
      session: { value: '<id>', says: "the client's session (default: that of the hook's payload on stdin)" },
      pid: { value: '<number>', says: 'end when this process is gone (default: the client that runs the hook)' },
      stay: { says: 'wait in this process, in place of one in the background' },
    },
    more: `
As a SessionStart hook it starts a waiter in the background, answers the hook and ends: one waiter
a session, which ends with its client. Only pointers are pushed, never a subject or a body.
In tmux it types into an empty input line alone, in the pane of TMUX_PANE.
OpenClaw is reached at OPENCLAW_GATEWAY_URL with OPENCLAW_HOOKS_TOKEN; it is started by a person
or a unit, and stays in the foreground.
`,
    examples: ['attach codex --agent alice', 'attach openclaw --agent alice'],
  },
} as const satisfies Record<string, WakerCommand>

export type WakerName = keyof typeof wakerCommands
