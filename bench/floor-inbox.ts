/** The floor of `fetch_inbox`: a bare node:http server that reads twenty messages with node:sqlite and writes them as JSON. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import { benchProject } from './seed-mail.ts'

const schema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.number(),
  method: z.string(),
  params: z.object({
    name: z.string(),
    arguments: z.object({
      project_key: z.string(),
      agent_name: z.string(),
      limit: z.int(),
      include_bodies: z.boolean(),
    }),
  }),
})

const db = new DatabaseSync(join(process.argv[2] ?? '', 'parley.sqlite3'), { readOnly: true })
const agent = db.prepare(
  'SELECT a.id FROM agents a JOIN projects p ON p.id = a.project_id WHERE p.human_key = ? AND a.name_key = ?',
)
// All of it is filed: nothing is sent in this store. Without that no index is in the order of an inbox.
const inbox = db.prepare(`
  SELECT m.id, t.key AS thread_id, m.subject, a.name AS "from", d.kind, m.importance, m.ack_required, m.created_at,
    d.read_at, d.acked_at, m.body
  FROM deliveries d JOIN messages m ON m.id = d.message_id JOIN threads t ON t.id = m.thread_id
    JOIN agents a ON a.id = m.sender_id
  WHERE d.recipient_id = ? AND d.filed = 1 ORDER BY d.message_id DESC LIMIT ?`)
const recipients = db.prepare(`
  SELECT d.message_id, a.name, d.kind FROM deliveries d JOIN agents a ON a.id = d.recipient_id
  WHERE d.message_id IN (SELECT value FROM json_each(?))`)

const iso = (ms: unknown): string | null => (ms === null ? null : new Date(Number(ms)).toISOString())

function read(name: string, limit: number): object[] {
  const { id } = agent.get(benchProject, name.toLowerCase()) as { id: number }
  const rows = inbox.all(id, limit)
  const to = Map.groupBy(recipients.all(JSON.stringify(rows.map((row) => row.id))), (row) => row.message_id)
  return rows.map(({ created_at, read_at, acked_at, body, ...row }) => ({
    ...row,
    to: (to.get(row.id ?? 0) ?? []).map((recipient) => recipient.name),
    cc: [],
    created_ts: iso(created_at),
    read_ts: iso(read_at),
    ack_ts: iso(acked_at),
    attachments: [],
    body_md: body,
  }))
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { id, params } = schema.parse(JSON.parse(Buffer.concat(chunks).toString()))
    const result = JSON.stringify({ result: read(params.arguments.agent_name, params.arguments.limit) })
    // Text and structure, as every result of a tool has both.
    const text = `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":${JSON.stringify(result)}}],"structuredContent":${result}}}`
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
    response.end(text)
  })
})
// The load keeps its connections while others have their turn.
server.keepAliveTimeout = 0
setImmediate(() => server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port)))
