/** The greeting of `parley serve`: the URLs of the doors, and the one line that connects each client. */

interface Ready {
  readonly version: string
  readonly url: string
  /** HTTP_PUBLIC_URL: how clients on other machines reach it. */
  readonly publicUrl?: string | undefined
  /** Where the mail door is. */
  readonly mailPath: string
  readonly storage: string
  /** Whether callers on this machine must bring a key. */
  readonly keyNeeded: boolean
  /** Whether others than this machine can reach the address, and would find no token set. */
  readonly unguarded: boolean
  /** Whether it listens for other machines, and no setting says by which name they reach it. */
  readonly nameless: boolean
}

export function banner(ready: Ready): string {
  const { version, publicUrl, mailPath, storage, keyNeeded, unguarded, nameless } = ready
  // No client reaches a Unix socket by a URL: they come by the proxy before it.
  const here = ready.url.startsWith('unix:')
    ? (publicUrl ?? `unix:${decodeURIComponent(new URL(ready.url).hostname)}`)
    : ready.url
  const url = publicUrl ?? here
  // The key of one agent, which the shell fills in: the token of the operator is for people.
  const header = keyNeeded ? ' --header "Authorization: Bearer $PARLEY_API_KEY"' : ''
  const connect = (name: string, at: string) => [
    `  Claude Code   claude mcp add --transport http ${name} ${at}${header}`,
    `  Codex         codex mcp add ${name} --url ${at}${keyNeeded ? ' --bearer-token-env-var PARLEY_API_KEY' : ''}`,
    `  Gemini CLI    gemini mcp add --scope user --transport http${header} ${name} ${at}`,
  ]
  const lines = [
    `Parley ${version} is ready at ${here}${publicUrl === undefined ? '' : ` (for others: ${publicUrl})`}`,
    '',
    `  pages     ${url}/mail`,
    `  mail      ${url}${mailPath}`,
    `  mailbox   ${url}/agents/{agent}/mcp`,
    `  hub       ${url}/hub/mcp?agent={agent}`,
    `  bus       ${url}/bus/mcp?agent={agent}`,
    `  post      ${url}/docs`,
    `  health    ${url}/health/readiness`,
    `  metrics   ${url}/metrics`,
    `  storage   ${storage}`,
    '',
    ...(keyNeeded
      ? [
          'Every agent needs a key: `parley invite NAME` prints the line that gives one, `parley keys create NAME` a key.',
          '',
        ]
      : []),
    'Connect a coding agent by `parley init` in its repository, or by hand:',
    '',
    ...connect('parley', `${here}${mailPath}`),
    '',
    'Or give an agent a mailbox instead, here that of "alice":',
    '',
    ...connect('parley', `${here}/agents/alice/mcp`),
    '',
    ...(publicUrl === undefined ? [] : ['Invite an agent of another machine: parley invite NAME', '']),
  ]
  if (unguarded)
    lines.push(
      'Other machines can reach this address, but get no further than 401 without a key: `parley invite NAME` lets an agent in, `parley token new` and a restart yourself.',
      '',
    )
  if (nameless)
    lines.push(
      'Other machines reach it by its address only, and get 403 by any name: set HTTP_PUBLIC_URL to the URL that they use.',
      '',
    )
  return lines.join('\n')
}

/** The greeting of a server that refuses every call: acknowledged changes are missing from its database. */
export const notReady = ({
  version,
  url,
  missing,
}: Pick<Ready, 'version' | 'url'> & { missing?: { message: string; hint?: string | undefined } | undefined }): string =>
  [
    `Parley ${version} listens at ${url}, but refuses every call.`,
    '',
    missing?.message,
    missing?.hint?.replaceAll('. ', '.\n'),
    '',
  ].join('\n')
