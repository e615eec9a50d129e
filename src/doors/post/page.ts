/** The readable page of the post door, made from its table of routes: no script, no style from elsewhere. */
import { createHash } from 'node:crypto'
import type { z } from 'zod'
import { type Described, failings, intro, schemaOf } from './openapi.ts'
import { closes } from './sockets/events.ts'
import type { Route } from './table.ts'

const style = `
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--line:#d8dee4;--paper:#fff;--panel:#f6f8fa;--get:#0a6640;--post:#0550ae;--put:#8a4600}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9198a1;--line:#30363d;--paper:#0d1117;--panel:#161b22;--get:#3fb950;--post:#79c0ff;--put:#e3a34b}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.6 system-ui,sans-serif}
main{max-width:54rem;margin:0 auto;padding:2.5rem 1.25rem 5rem}h1{font-size:2rem;line-height:1.2;margin:0 0 .5rem}
h2{margin:3rem 0 1rem;padding-bottom:.4rem;border-bottom:1px solid var(--line)}h3{font-size:1.05rem;margin:0 0 .5rem;font-weight:600}
p{margin:.5rem 0}a{color:var(--post)}.soft{color:var(--soft)}code,pre{font:0.875em/1.55 ui-monospace,SFMono-Regular,Menlo,monospace}
pre{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:.8rem 1rem;overflow-x:auto;margin:.6rem 0}
article{border:1px solid var(--line);border-radius:10px;padding:1.1rem 1.25rem;margin:1rem 0}
.call{display:flex;flex-wrap:wrap;gap:.6rem;align-items:baseline}.call b{font:600 .8rem ui-monospace,monospace}
.GET{color:var(--get)}.POST{color:var(--post)}.PUT{color:var(--put)}.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.92rem;margin:.5rem 0}th,td{text-align:left;vertical-align:top;padding:.35rem .9rem .35rem 0;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:500}summary{cursor:pointer;color:var(--soft);margin-top:.6rem}nav a{display:inline-block;margin:0 1rem .3rem 0}
`

/** Nothing is loaded, run or framed; the one style is known by its hash. */
export const pagePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const text = (raw: unknown): string => String(raw).replace(/[&<>"']/g, (one) => escapes[one] ?? one)
/** Words in backticks are code. */
const prose = (raw: string): string => text(raw).replace(/`([^`]+)`/g, '<code>$1</code>')
const pretty = (value: object): string => text(JSON.stringify(value, null, 2))

export function docsPage({ routes, version }: Described): string {
  const groups = Map.groupBy(routes, ({ about }) => about)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley: the post door</title><style>${style}</style></head><body><main>
<h1>The post door</h1><p class="soft">Parley ${text(version)} · <a href="/openapi.json">openapi.json</a></p>
<p>${prose(intro)}</p>
<nav aria-label="Parts">${[...groups.keys(), 'WebSocket'].map((name) => `<a href="#${text(name)}">${text(name)}</a>`).join('')}</nav>
<h2 id="Keys">Keys and errors</h2>
<p>Every call but the registration brings the key of an agent, as <code>X-API-Key</code> or as <code>Authorization: Bearer</code>. Times are ISO 8601 in UTC. An error is <code>{"detail": …, "code": …}</code>; its code stays the same where its words may change.</p>
${[...groups].map(([name, some]) => `<h2 id="${text(name)}">${text(name)}</h2>\n${some.map(routePart).join('\n')}`).join('\n')}
${socketPart}
</main></body></html>
`
}

function routePart(route: Route): string {
  const { method, path, summary, description, input, status, example } = route
  const rows = [
    ...fieldRows('path', input.params),
    ...fieldRows('query', input.query),
    ...fieldRows('body', input.body),
  ]
  const fields = rows.length === 0 ? '' : table(['field', 'in', 'type', ''], rows)
  const errors = failings(route).map((one) => [text(one.status), `<code>${one.code}</code>`, prose(one.reason)])
  return `<article id="${text(route.name)}"><h3>${text(summary)}</h3>
<p class="call"><b class="${method}">${method}</b> <code>${text(path)}</code></p>
<p>${prose(description)}</p>
${fields}
<pre>${text(curlOf(route))}</pre>
<p class="soft">Answers ${status}:</p><pre>${pretty(example.answer)}</pre>
<details><summary>Errors</summary>${table(['status', 'code', 'reason'], errors)}</details></article>`
}

function curlOf({ method, path, open, example }: Route): string {
  const key = open ? [] : ['-H "X-API-Key: $KEY"']
  const body = example.body
    ? ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(example.body).replaceAll("'", "'\\''")}'`]
    : []
  const verb = method === 'GET' ? [] : [`-X ${method}`]
  return ['curl', ...verb, `http://127.0.0.1:8765${path}`, ...key, ...body].join(' \\\n  ')
}

interface Property {
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly anyOf?: readonly Property[]
}

function fieldRows(place: string, schema: z.ZodObject | undefined): string[][] {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    properties?: Record<string, Property>
    required?: string[]
  }
  return Object.entries(properties).map(([name, property]) => [
    `<code>${text(name)}</code>`,
    place,
    `${text(typeOf(property))}${required.includes(name) ? '' : ', optional'}`,
    prose(property.description ?? ''),
  ])
}

const typeOf = ({ type, format, anyOf }: Property): string =>
  format ?? type ?? anyOf?.map(typeOf).find((one) => one !== 'null') ?? ''

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  `<div class="wide"><table><thead><tr>${head.map((one) => `<th scope="col">${one}</th>`).join('')}</tr></thead><tbody>${rows
    .map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`)
    .join('')}</tbody></table></div>`

const events = [
  {
    type: 'new_message',
    session_id: '…',
    subject: 'Project collaboration',
    from_agent: 'alice-agent',
    content: 'Hello Bob!',
    message_id: '…',
    created_at: '2026-02-22T10:05:00.000Z',
    automatic: false,
  },
  {
    type: 'connection_request',
    connection_id: '…',
    from_agent: 'charlie-agent',
    message: 'Want to chat?',
    verification_code: 'AB-123',
  },
  { type: 'connection_approved', connection_id: '…', connected_agent: 'bob-agent' },
]

const socketPart = `<h2 id="WebSocket">WebSocket</h2><article>
<p class="call"><b class="GET">GET</b> <code>/ws</code></p>
<p>Bring the key as <code>X-API-Key</code>, or as first message <code>{"type": "auth", "api_key": "amb_…"}</code> within five seconds, which is answered with <code>{"type": "auth_ok"}</code>; older clients write <code>/ws?api_key=…</code>. Every event comes after its commit. What was missed while nobody was connected is in the inbox. <code>{"type": "ping"}</code> is answered with <code>{"type": "pong"}</code>.</p>
<pre>${events.map((event) => text(JSON.stringify(event))).join('\n')}</pre>
${table(
  ['closed with', 'reason'],
  Object.values(closes).map(([code, reason]) => [text(code), text(reason)]),
)}</article>`
