/** The readable page of the post door, made from its table of routes: no script, no style from elsewhere. */
import { createHash } from 'node:crypto'
import type { z } from 'zod'
import { type Described, failings, intro, schemaOf } from './openapi.ts'
import { style } from './page-style.ts'
import { closes } from './sockets/events.ts'
import type { Route } from './table.ts'

/** Nothing is loaded, run or framed; the one style is known by its hash. */
export const pagePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const text = (raw: unknown): string => String(raw).replace(/[&<>"']/g, (one) => escapes[one] ?? one)
const prose = (raw: string): string => text(raw).replace(/`([^`]+)`/g, '<code>$1</code>')
const pretty = (value: object): string => text(JSON.stringify(value, null, 2))

export function docsPage({ routes, publicUrl, basePath, version }: Described): string {
  const groups = Map.groupBy(routes, ({ about }) => about)
  const parts = [...groups].map(
    ([name, some]) => `<h2 id="${text(name)}">${text(name)}</h2>\n${some.map(routePart).join('\n')}`,
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley: the post door</title><style>${style}</style></head><body>
<header><h1>The post door</h1><p class="soft">Parley ${text(version)} · <a href="${basePath}/openapi.json">openapi.json</a></p><p>${prose(intro)}</p></header>
${contents(groups)}
<main>
${keysPart(publicUrl ?? `http://127.0.0.1:8765${basePath}`)}
${parts.join('\n')}
${socketPart}
</main></body></html>
`
}

/** A wide screen shows every route, a phone only the parts. */
function contents(groups: ReadonlyMap<string, readonly Route[]>): string {
  const link = (id: string, shown: string) => `<a href="#${text(id)}">${text(shown)}</a>`
  const routesOf = (some: readonly Route[]) =>
    `<ul>${some.map(({ name, summary }) => `<li>${link(name, summary)}</li>`).join('')}</ul>`
  const parts = [...groups].map(([name, some]) => `<li>${link(name, name)}${routesOf(some)}</li>`)
  return `<nav aria-label="Parts"><ul><li>${link('Keys', 'Keys and errors')}</li>${parts.join('')}<li>${link('WebSocket', 'WebSocket')}</li></ul></nav>`
}

const keysPart = (url: string): string => `<h2 id="Keys">Keys and errors</h2>
<p>Every call but the registration brings the key of an agent, as <code>X-API-Key</code> or as <code>Authorization: Bearer</code>. Times are ISO 8601 in UTC. An error is <code>{"detail": …, "code": …}</code>; its code stays the same where its words may change. For the examples:</p>
<pre tabindex="0">PARLEY=${text(url)}
KEY=amb_…</pre>`

function routePart(route: Route): string {
  const { method, path, summary, description, input, status, example } = route
  const fields = [...fieldsOf('path', input.params), ...fieldsOf('query', input.query), ...fieldsOf('body', input.body)]
  const errors = failings(route).map((one) => [`${one.status} <code>${one.code}</code>`, prose(one.reason)] as const)
  return `<article id="${text(route.name)}"><h3>${text(summary)}</h3>
<p class="call"><b class="${method}">${method}</b> <code>${text(path)}</code></p>
<p>${prose(description)}</p>
${list(fields)}
${sample('What is sent', text(curlOf(route)))}
<p class="soft">Answers ${status}:</p>${sample('What is answered', pretty(example.answer))}
<details><summary>Errors</summary>${list(errors)}</details></article>`
}

/** Focusable, so that long lines can be scrolled without a mouse. */
const sample = (label: string, html: string): string =>
  `<pre tabindex="0" role="region" aria-label="${label}">${html}</pre>`

/** The placeholders of a path become variables: curl would expand its braces. */
function curlOf({ method, path, open, example }: Route): string {
  const url = `"$PARLEY${path.replace(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`)}"`
  const key = open ? [] : ['-H "X-API-Key: $KEY"']
  const body = example.body
    ? ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(example.body).replaceAll("'", "'\\''")}'`]
    : []
  const verb = method === 'GET' ? [] : [`-X ${method}`]
  return [['curl', ...verb, url].join(' '), ...key, ...body].join(' \\\n  ')
}

interface Property {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  readonly anyOf?: readonly Property[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: unknown
}

function fieldsOf(place: string, schema: z.ZodObject | undefined): (readonly [string, string])[] {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    properties?: Record<string, Property>
    required?: string[]
  }
  return Object.entries(properties).map(([name, property]) => {
    const facts = [place, ...factsOf(property), ...(required.includes(name) ? [] : ['optional'])]
    return [`<code>${text(name)}</code> <small>${text(facts.join(', '))}</small>`, prose(property.description ?? '')]
  })
}

/** Its type and its bounds; null, which every optional field takes, is not mentioned. */
function factsOf(property: Property): string[] {
  const { anyOf, format, minLength, maxLength, minimum, maximum } = property
  const inner = anyOf?.find(({ type }) => type !== 'null')
  if (inner !== undefined) return factsOf(inner)
  const type = [property.type ?? []].flat().find((one) => one !== 'null')
  return [
    ...[format ?? type ?? []].flat(),
    ...(maxLength === undefined ? [] : [`${minLength}–${maxLength} characters`]),
    ...(maximum === undefined ? [] : [`${minimum}–${maximum}`]),
    ...(property.default === undefined ? [] : [`default ${property.default}`]),
  ]
}

const list = (rows: readonly (readonly [string, string])[]): string =>
  rows.length === 0 ? '' : `<dl>${rows.map(([term, says]) => `<dt>${term}</dt><dd>${says}</dd>`).join('')}</dl>`

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
<p>Bring the key as <code>X-API-Key</code>, or as first message <code>{"type": "auth", "api_key": "amb_…"}</code> within five seconds, which is answered with <code>{"type": "auth_ok"}</code>; older clients write <code>/ws?api_key=…</code>. Every event comes after its commit. Messages that arrived while nobody was connected are in the inbox. <code>{"type": "ping"}</code> is answered with <code>{"type": "pong"}</code>.</p>
${sample('Events', events.map((event) => text(JSON.stringify(event))).join('\n'))}
<p>A socket is closed with a code and the reason:</p>
${list(Object.values(closes).map(([code, reason]) => [`<code>${code}</code>`, text(reason)]))}</article>`
