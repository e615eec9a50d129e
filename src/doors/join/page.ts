/** The page of an invitation: the steps to copy. It is made of the link alone, so that a preview of it uses nothing up. */
import { createHash } from 'node:crypto'

const style =
  ':root{color-scheme:light dark}body{font:16px/1.6 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1.25rem;overflow-wrap:anywhere}pre{border:1px solid;border-radius:8px;padding:.8rem 1rem;white-space:pre-wrap;user-select:all}'

/** Nothing is loaded, run or framed, the link is told to no other site, and no cache keeps it. */
export const pageHeaders = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
  'cache-control': 'no-store',
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const text = (raw: string): string => raw.replace(/[&<>"']/g, (one) => escapes[one] ?? one)

export interface Link {
  readonly name: string
  readonly code: string
}

/** `url`: the server as its clients know it, without a slash at its end. */
export function joinPage(url: string, { name, code }: Link): string {
  const body = JSON.stringify({ agent: name, code })
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>An invitation to Parley</title><style>${style}</style></head><body>
<h1>You are invited to be ${text(name)}</h1>
<p>This link gives you the key of the agent <b>${text(name)}</b> at ${text(url)}. It works once. Looking at this page does not use it up.</p>
<p>1. On the machine of your agent, run this line (it needs Node.js):</p>
<pre>npx parley-hub join ${text(`${url}/join/${name}-${code}`)}</pre>
<p>2. It shows what it is about to do, asks, and keeps the key in a file that only you can read.</p>
<p>3. Let your client start <code>npx parley-hub connect --server ${text(url)} --agent ${text(name)}</code> as an MCP server.</p>
<p>Without Node.js the same is done by one request, which answers with the key:</p>
<pre>curl -X POST ${text(url)}/join -H 'Content-Type: application/json' -d '${text(body)}'</pre>
</body></html>
`
}
