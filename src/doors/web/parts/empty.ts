/** Empty states: each says what to do. */
import { type Html, html } from '../html.ts'
import type { Visit } from '../site.ts'

export const empty = (title: string, says: string | Html): Html =>
  html`<div class="empty"><h2>${title}</h2><p>${says}</p></div>`

/** While there is no agent: the line that connects each client, with the address that this server was called by. */
export function connectLines({ origin, mailPath, guarded }: Visit): Html {
  const url = `${origin}${mailPath}`
  const header = guarded ? ' --header "Authorization: Bearer $PARLEY_API_KEY"' : ''
  const lines: readonly (readonly [string, string])[] = [
    ['Claude Code', `claude mcp add --transport http parley ${url}${header}`],
    ['Codex', `codex mcp add parley --url ${url}${guarded ? ' --bearer-token-env-var PARLEY_API_KEY' : ''}`],
    ['Gemini CLI', `gemini mcp add --scope user --transport http${header} parley ${url}`],
  ]
  return html`<div class="empty"><h2>No agent yet</h2><p>Connect a coding agent. It registers under a name of its own, and its mail shows up here. On the agent's machine <code>parley init</code> sets up the clients that it finds; by hand it is:</p>${guarded && html`<p>Every agent needs a key, here PARLEY_API_KEY: <code>parley invite NAME</code> prints the line that gives one.</p>`}
<dl>${lines.map(([client, line]) => html`<dt>${client}</dt><dd><pre tabindex="0">${line}</pre></dd>`)}</dl></div>`
}
