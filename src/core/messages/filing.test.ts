/** New mail is filed behind the sends, and what others have left when a server starts. */

import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import sql from 'sql-template-tag'
import { expect, inject, onTestFinished, test } from 'vitest'
import { as, openTestHub } from '../../../test/support/hub.ts'
import { temporaryFolder } from '../../../test/support/parley.ts'
import type { Db } from '../../db/port.ts'
import { openSqlite } from '../../db/sqlite/sqlite.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { fileAll } from './filing.ts'
import { send } from './send.ts'

async function start() {
  const file = join(await temporaryFolder(), 'parley.sqlite3')
  copyFileSync(inject('sqliteTemplate'), file)
  const db = await openSqlite(file)
  const hub = await openTestHub(db)
  onTestFinished(() => hub.close())
  return { db, hub }
}

const to = (...names: string[]) => ({ to: names.map((name) => ({ name })), body: 'x' })

async function waiting(hub: Hub) {
  const [row] = await reader(hub).all<{ deliveries: number; messages: number }>(sql`
    SELECT (SELECT COUNT(*) FROM deliveries WHERE filed IS NULL) AS deliveries,
      (SELECT MAX(id) FROM messages) - (SELECT up_to FROM outbox_filed) AS messages`)
  return row
}

/** Messages that no send of this process has made. */
const say = (db: Db, count: number) =>
  db.tx((tx) =>
    tx.change(sql`
      INSERT INTO messages (uid, thread_id, seq, sender_id, mail, body, created_at)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      SELECT 'said-' || i, 1, i + 1, 1, 0, 'text', 0 FROM n`),
  )

test('After four thousand deliveries all that wait are filed', async () => {
  const { hub } = await start()
  const names = Array.from({ length: 100 }, (_, n) => `reader-${n}`)
  for (let n = 0; n < 40; n++) await send(hub, as('ann'), to(...names))
  expect(await waiting(hub)).toEqual({ deliveries: 4000, messages: 40 })
  await send(hub, as('ann'), to(...names))
  await expect.poll(() => waiting(hub)).toEqual({ deliveries: 0, messages: 41 })
})

test('After a thousand messages all that wait are filed, also those of other processes', async () => {
  const { db, hub } = await start()
  for (let n = 0; n < 1023; n++) await send(hub, as('ann'), to('bob'))
  await say(db, 3000)
  expect(await waiting(hub)).toEqual({ deliveries: 1023, messages: 4023 })
  await send(hub, as('ann'), to('bob'))
  await expect.poll(() => waiting(hub)).toEqual({ deliveries: 1024, messages: 0 })
})

test('A server that starts files what is left, also where nobody wrote mail', async () => {
  const { db, hub } = await start()
  await send(hub, as('ann'), to('bob'))
  await say(db, 5000)
  expect(await waiting(hub)).toEqual({ deliveries: 1, messages: 5001 })
  void fileAll(hub)
  await expect.poll(() => waiting(hub)).toEqual({ deliveries: 0, messages: 0 })
  const sent = await reader(hub).all(sql`SELECT message_id FROM outbox`)
  expect(sent).toHaveLength(1)
})
