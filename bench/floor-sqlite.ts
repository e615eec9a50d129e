/**
 * Floor (b): the rows of a send and of a pop by node:sqlite alone, as fast as the promises allow. bench/README.md says what
 * it does and why; it has tables of its own, so that it stays as it is when Parley's change. Each line is an order, answered in JSON.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../src/base/clock.ts'
import { createIds } from '../src/base/ids.ts'
import { text } from './text.ts'

export interface FloorOrder {
  unit: 'send' | 'sendTen' | 'check'
  seconds: number
}

const inFlight = 64
const agents = 64
const filedAtOnce = 4096

const folder = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'parley-floor-'))
const db = new DatabaseSync(join(folder, 'floor.sqlite3'))
db.exec(`
  PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 8000;
  CREATE TABLE agents (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, unread BIGINT NOT NULL DEFAULT 0);
  CREATE TABLE threads (
    id INTEGER PRIMARY KEY AUTOINCREMENT, uid TEXT NOT NULL UNIQUE, next_seq BIGINT NOT NULL, created_at BIGINT NOT NULL);
  CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, uid TEXT NOT NULL UNIQUE, thread_id BIGINT NOT NULL REFERENCES threads (id),
    seq BIGINT NOT NULL, sender_id BIGINT NOT NULL REFERENCES agents (id), subject TEXT, body TEXT NOT NULL,
    created_at BIGINT NOT NULL, UNIQUE (thread_id, seq));
  CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT, message_id BIGINT NOT NULL REFERENCES messages (id),
    recipient_id BIGINT NOT NULL REFERENCES agents (id), kind TEXT NOT NULL DEFAULT 'to', sent_at BIGINT NOT NULL,
    read_at BIGINT, hold TEXT, held_until BIGINT, UNIQUE (message_id, recipient_id));
  CREATE INDEX unread ON deliveries (recipient_id, id) WHERE read_at IS NULL;
  CREATE TABLE changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at BIGINT NOT NULL, kind TEXT NOT NULL, agent_id BIGINT, thread_id BIGINT,
    message_id BIGINT, wakes TEXT NOT NULL);
  CREATE TABLE inbox (recipient_id BIGINT, delivery_id BIGINT, PRIMARY KEY (recipient_id, delivery_id)) WITHOUT ROWID;
  CREATE TABLE outbox (sender_id BIGINT, message_id BIGINT, PRIMARY KEY (sender_id, message_id)) WITHOUT ROWID;`)
for (let n = 1; n <= agents; n++) db.exec(`INSERT INTO agents (name) VALUES ('a${n}')`)

const thread = db.prepare('INSERT INTO threads (uid, next_seq, created_at) VALUES (?, 2, ?)')
const message = db.prepare(
  'INSERT INTO messages (uid, thread_id, seq, sender_id, body, created_at) VALUES (?, ?, 1, ?, ?, ?)',
)
const delivery = db.prepare('INSERT INTO deliveries (message_id, recipient_id, sent_at) VALUES (?, ?, ?)')
const unread = db.prepare('UPDATE agents SET unread = unread + ? WHERE id = ?')
const change = db.prepare(
  'INSERT INTO changes (at, kind, agent_id, thread_id, message_id, wakes) VALUES (?, ?, ?, ?, ?, ?)',
)
const oldest = db.prepare(`
  SELECT id, message_id FROM deliveries
  WHERE recipient_id = ? AND read_at IS NULL AND (held_until IS NULL OR held_until <= ?) ORDER BY id LIMIT 1`)
const content = db.prepare(
  'SELECT m.uid, m.body, m.created_at, a.name FROM messages m JOIN agents a ON a.id = m.sender_id WHERE m.id = ?',
)
const taken = db.prepare('UPDATE deliveries SET read_at = ?, hold = ? WHERE id = ?')
const fileInbox = db.prepare(
  'INSERT INTO inbox SELECT recipient_id, id FROM deliveries WHERE id > ? ORDER BY recipient_id, id',
)
const fileOutbox = db.prepare(
  'INSERT INTO outbox SELECT sender_id, id FROM messages WHERE id > ? ORDER BY sender_id, id',
)
const [begin, commit] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')]

const ids = createIds(systemClock)
const filed = { message: 0, delivery: 0 }
const last = { message: 0, delivery: 0 }

function send(agent: number, recipients: number, now: number): true {
  const uid = ids.uuid()
  const threadId = Number(thread.run(uid, now).lastInsertRowid)
  last.message = Number(message.run(uid, threadId, agent, text, now).lastInsertRowid)
  for (let n = 0; n < recipients; n++) {
    const recipient = ((agent + n) % agents) + 1
    last.delivery = Number(delivery.run(last.message, recipient, now).lastInsertRowid)
    unread.run(1, recipient)
  }
  change.run(now, 'message.sent', agent, threadId, last.message, `mail:${agent}`)
  return true
}

function pop(agent: number, now: number): boolean {
  const row = oldest.get(agent, now) as { id: number; message_id: number } | undefined
  if (row === undefined) return false
  content.get(row.message_id)
  taken.run(now, ids.token(), row.id)
  unread.run(-1, agent)
  change.run(now, 'mail.taken', agent, null, row.message_id, '')
  return true
}

/** The indexes of inboxes and outboxes, in bulk: one agent's rows lie together then. */
function file(): void {
  if (last.delivery - filed.delivery < filedAtOnce) return
  fileInbox.run(filed.delivery)
  fileOutbox.run(filed.message)
  Object.assign(filed, last)
}

const units: Record<FloorOrder['unit'], (agent: number, now: number) => boolean> = {
  send: (agent, now) => send(agent, 1, now),
  sendTen: (agent, now) => send(agent, 10, now),
  check: pop,
}

function measure({ unit, seconds }: FloorOrder): { calls: number; microseconds: number } {
  let calls = 0
  const began = process.hrtime.bigint()
  const until = began + BigInt(Math.round(seconds * 1e9))
  for (let going = true; going && process.hrtime.bigint() < until; ) {
    begin.run()
    for (let n = 0; n < inFlight && going; n++) {
      going = units[unit]((calls % agents) + 1, Date.now())
      if (going) calls++
    }
    file()
    commit.run()
  }
  return { calls, microseconds: Number(process.hrtime.bigint() - began) / 1000 / calls }
}

for await (const line of createInterface(process.stdin)) console.log(JSON.stringify(measure(JSON.parse(line))))
db.close()
rmSync(folder, { recursive: true })
