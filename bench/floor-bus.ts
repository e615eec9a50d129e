/** The floor of `sync`: one of several processes that write the rows of a message by node:sqlite alone, a commit each, synchronous=FULL. */
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../src/base/clock.ts'
import { createIds } from '../src/base/ids.ts'

const [file = '', agent = '', body = ''] = process.argv.slice(2)
const agentId = Number(agent)
// SQLite's own way to wait for other writers.
const db = new DatabaseSync(file, { timeout: 30_000 })
db.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY')

const seq = db.prepare('UPDATE threads SET next_seq = next_seq + 1 WHERE id = 1 RETURNING next_seq - 1 AS seq')
const message = db.prepare(
  "INSERT INTO messages (uid, thread_id, seq, sender_id, kind, mail, body, created_at) VALUES (?, 1, ?, ?, 'message', 0, ?, ?) RETURNING id",
)
const cursor = db.prepare(
  'UPDATE cursors SET last_seq = ?, scanned_seq = ?, synced_at = ?, waiting_until = NULL WHERE thread_id = 1 AND agent_id = ?',
)
const change = db.prepare(
  "INSERT INTO changes (at, kind, project_id, agent_id, thread_id, message_id, wakes) VALUES (?, 'message.posted', 1, ?, 1, ?, 'thread:1')",
)
const [begin, commit] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')]
const ids = createIds(systemClock)

function write(): void {
  const now = systemClock.now()
  begin.run()
  const at = (seq.get() as { seq: number }).seq
  const { id } = message.get(ids.short(), at, agentId, body, now) as { id: number }
  cursor.run(at, at, now, agentId)
  change.run(now, agentId, id)
  commit.run()
}

process.stdout.write('ready\n')
// A line without a number asks for one message; a number of milliseconds, for as many as can be in that time.
for await (const line of createInterface(process.stdin)) {
  let count = 0
  const until = performance.now() + Number(line)
  do {
    write()
    count++
  } while (performance.now() < until)
  process.stdout.write(`${count}\n`)
}
db.close()
