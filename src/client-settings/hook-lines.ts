/** The lines that clients run and call as hooks. They hold absolute paths of this machine, and never a key. */

/** Where hooks call, as whom, and by which programs. */
export interface Hooking {
  /** The server, without a path. */
  readonly server: string
  /** Undefined: the client's variable AGENT_NAME, else what the session does. */
  readonly agent: string | undefined
  readonly project: string | undefined
  /** Node and Parley by their absolute paths: a client finds neither on a PATH of its own. */
  readonly parley: readonly string[]
  readonly curl: boolean
  /** Whether the server takes calls with a key alone. */
  readonly needsKey: boolean
  /** A file of mode 600 with the header for curl, where a key is held. */
  readonly keyFile: string | undefined
  /** The file that keys are kept in. */
  readonly credentials: string
  /** Gemini's turn is held open until there is mail. */
  readonly hold: boolean
  readonly platform: string
}

/** With the project percent-encoded: a path may hold any letter. */
export function hookUrl(client: string, event: string, { server, agent, project }: Hooking): string {
  const named = Object.entries({ agent, project }).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}=${encodeURIComponent(value)}`],
  )
  return `${server}/hooks/${client}/${event}${named.length === 0 ? '' : `?${named.join('&')}`}`
}

/** Answers a hook of a turn: curl where it is, because it starts in 15 ms, and Node in 60 or more. */
export function turnCommand(client: string, event: string, hooking: Hooking): string {
  const { curl, platform, keyFile, needsKey, agent, server } = hooking
  if (!curl || platform === 'win32' || (needsKey && keyFile === undefined))
    return commandLine(['hook', client, event], hooking)
  const url = hookUrl(client, event, hooking)
  // The windows of Codex share the environment of the first one.
  const isNamed = agent !== undefined || client === 'codex'
  const words = [
    ...['curl', '-sf', '-m', '1', ...(isNear(server) ? ['--noproxy', '*'] : [])],
    ...(keyFile === undefined ? [] : ['-K', keyFile]),
    ...['-H', 'Content-Type: application/json', '--data-binary', '@-'],
  ]
  // An empty name would be a wrong one.
  const variable = url.includes('?') ? '&agent=$AGENT_NAME' : '?agent=$AGENT_NAME'
  const target = isNamed ? quoted(url) : `${quoted(url)}"\${AGENT_NAME:+${variable}}"`
  return `${words.map((word) => quoted(word)).join(' ')} ${target} || true`
}

const isNear = (server: string): boolean => /^(localhost|\[::1\]|127(\.\d+){3})$/.test(new URL(server).hostname)

export function commandLine(args: readonly string[], { parley, server, agent, project, platform }: Hooking): string {
  const named = [
    ...(agent === undefined ? [] : ['--agent', agent]),
    ...(project === undefined ? [] : ['--project', project]),
  ]
  return [...parley, ...args, '--server', server, ...named].map((word) => quoted(word, platform)).join(' ')
}

/** One word of a shell. */
function quoted(word: string, platform = 'linux'): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  return platform === 'win32' ? `"${word.replaceAll('"', '\\"')}"` : `'${word.replaceAll("'", `'\\''`)}'`
}
