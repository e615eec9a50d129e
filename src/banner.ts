/** What `parley serve` prints when it is ready: where the doors are, and the one line that connects each client. */

export interface Ready {
  readonly version: string
  readonly url: string
  readonly storage: string
  /** Whether callers on this machine must bring the token. */
  readonly tokenNeeded: boolean
  /** Whether others than this machine can reach the address, and would find no token set. */
  readonly unguarded: boolean
}

export function banner({ version, url, storage, tokenNeeded, unguarded }: Ready): string {
  const mine = `${url}/agents/alice/mcp`
  // The shell fills the token in: it never stands in what we print.
  const header = tokenNeeded ? ' --header "Authorization: Bearer $HTTP_BEARER_TOKEN"' : ''
  const lines = [
    `Parley ${version} is ready at ${url}`,
    '',
    `  mailbox   ${url}/agents/{agent}/mcp`,
    `  bus       ${url}/bus/mcp?agent={agent}`,
    `  health    ${url}/health/readiness`,
    `  metrics   ${url}/metrics`,
    `  storage   ${storage}`,
    '',
    'Connect an agent under a name of its own, here "alice":',
    '',
    `  Claude Code   claude mcp add --transport http parley ${mine}${header}`,
    `  Codex         codex mcp add parley --url ${mine}${tokenNeeded ? ' --bearer-token-env-var HTTP_BEARER_TOKEN' : ''}`,
    `  Gemini CLI    gemini mcp add --scope user --transport http${header} parley ${mine}`,
    '',
  ]
  if (unguarded)
    lines.push(
      'Other machines can reach this address, but get no further than 401: set HTTP_BEARER_TOKEN to let them in.',
      '',
    )
  return lines.join('\n')
}
