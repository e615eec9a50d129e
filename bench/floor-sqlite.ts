/** Floor (b): the rows of a send and of a pop written by node:sqlite alone, 64 to a commit, synchronous=FULL. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../src/base/clock.ts'
import { createIds } from '../src/base/ids.ts'
import { migrations } from '../src/db/migrations/all.ts'

const seconds = Number(process.argv[2] ?? 2)
const inFlight = 64
const agents = 64
const text =
  'The build is green again; the flaky test was a timer that outlived its server. Please have a look at the diff. '.repeat(
    2,
  )

const folder = mkdtempSync(join(process.argv[3] ?? tmpdir(), 'parley-floor-'))
const db = new DatabaseSync(join(folder, 'floor.sqlite3'))
db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
for (const { up } of migrations) for (const statement of up('sqlite', Date.now())) db.exec(statement)
for (let n = 1; n <= agents; n++)
  db.exec(`INSERT INTO agents (project_id, name, name_key, created_at) VALUES (1, 'a${n}', 'a${n}', 0)`)

const thread = db.prepare(
  'INSERT INTO threads (uid, project_id, next_seq, created_at) VALUES (?, 1, 2, ?) RETURNING id',
)
const message = db.prepare(
  'INSERT INTO messages (uid, thread_id, seq, sender_id, client_id, body, created_at) VALUES (?, ?, 1, ?, NULL, ?, ?) RETURNING id',
)
const delivery = db.prepare('INSERT INTO deliveries (message_id, recipient_id, sent_at) VALUES (?, ?, ?)')
const unread = db.prepare('UPDATE agents SET unread = unread + ? WHERE id = ?')
const change = db.prepare(
  'INSERT INTO changes (at, kind, project_id, agent_id, thread_id, message_id, wakes) VALUES (?, ?, 1, ?, ?, ?, ?)',
)
const pop = db.prepare(`
  UPDATE deliveries SET read_at = ?, hold = ? WHERE id = (
    SELECT id FROM deliveries WHERE recipient_id = ? AND read_at IS NULL AND (held_until IS NULL OR held_until <= ?)
    ORDER BY id LIMIT 1) RETURNING message_id`)

const ids = createIds(systemClock)

function measure(unit: (agent: number, now: number) => boolean): number {
  let count = 0
  const began = process.hrtime.bigint()
  const until = began + BigInt(Math.round(seconds * 1e9))
  for (let going = true; going && process.hrtime.bigint() < until; ) {
    db.exec('BEGIN IMMEDIATE')
    for (let n = 0; n < inFlight && going; n++) {
      going = unit((count % agents) + 1, Date.now())
      if (going) count++
    }
    db.exec('COMMIT')
  }
  return Number(process.hrtime.bigint() - began) / 1000 / count
}

const send = measure((agent, now) => {
  const uid = ids.uuid()
  const threadId = (thread.get(uid, now) as { id: number }).id
  const messageId = (message.get(uid, threadId, agent, text, now) as { id: number }).id
  delivery.run(messageId, agent, now)
  unread.run(1, agent)
  change.run(now, 'message.sent', agent, threadId, messageId, `mail:${agent}`)
  return true
})
const sendTen = measure((agent, now) => {
  const uid = ids.uuid()
  const threadId = (thread.get(uid, now) as { id: number }).id
  const messageId = (message.get(uid, threadId, agent, text, now) as { id: number }).id
  for (let n = 0; n < 10; n++) {
    const recipient = ((agent + n) % agents) + 1
    delivery.run(messageId, recipient, now)
    unread.run(1, recipient)
  }
  change.run(now, 'message.sent', agent, threadId, messageId, `mail:${agent}`)
  return true
})
const check = measure((agent, now) => {
  const row = pop.get(now, ids.token(), agent, now) as { message_id: number } | undefined
  if (row === undefined) return false
  unread.run(-1, agent)
  change.run(now, 'mail.taken', agent, null, row.message_id, '')
  return true
})
db.close()
rmSync(folder, { recursive: true })
console.log(JSON.stringify({ send, sendTen, check }))
