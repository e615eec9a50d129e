/** Events of the WebSocket and the commit of what they tell of: the database itself refuses or delays the commit. */
import { Client } from 'pg'
import sql, { raw } from 'sql-template-tag'
import { expect } from 'vitest'
import type { Db, Tx } from '../../../src/db/port.ts'
import { eachEngine } from '../../support/engines.ts'
import { serveHere } from '../../support/parley.ts'
import { connected } from '../../support/post.ts'
import { socketOf } from '../../support/sockets.ts'
import { verifies } from '../../support/verifies.ts'

/** A row that refers to nothing is noticed by the COMMIT, and not before. */
async function refuseAtCommit(db: Db): Promise<void> {
  await db.tx(async (tx) => {
    await tx.all(sql`CREATE TABLE refused (id BIGINT REFERENCES agents (id) DEFERRABLE INITIALLY DEFERRED)`)
    const insertion = "INSERT INTO refused SELECT -1 WHERE NEW.body = 'refused'"
    if (db.dialect === 'postgres') await onInsert(tx, { name: 'refuse', does: insertion })
    else await tx.all(raw(`CREATE TRIGGER refuse AFTER INSERT ON messages BEGIN ${insertion}; END`))
  })
}

async function onInsert(tx: Tx, { name, does, atCommit = false }: { name: string; does: string; atCommit?: boolean }) {
  const [kind, when] = atCommit ? ['CONSTRAINT', 'DEFERRABLE INITIALLY DEFERRED'] : ['', '']
  await tx.all(
    raw(`CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${does}; RETURN NULL; END $$`),
  )
  await tx.all(
    raw(`CREATE ${kind} TRIGGER ${name} AFTER INSERT ON messages ${when} FOR EACH ROW EXECUTE FUNCTION ${name}()`),
  )
}

eachEngine('An event of the WebSocket', (open, dialect) => {
  verifies('post.socket.committed', 'tells of no message whose commit fails', async () => {
    const database = await open()
    await refuseAtCommit(await database.connect())
    const parley = await serveHere({ env: { DATABASE_URL: database.url } })
    const [alice, bob] = await connected(parley)
    const socket = await socketOf(parley, bob)
    // The second finds its conversation, and goes another way than the first.
    for (const content of ['one', 'two', 'three']) {
      expect((await alice.send(bob, 'Commits', 'refused')).status).toBeGreaterThanOrEqual(500)
      expect((await alice.send(bob, 'Commits', content)).status).toBe(201)
      expect(await socket.next()).toMatchObject({ content })
    }
    expect(socket.events).toEqual([])
    socket.socket.terminate()
    await parley.stop()
  })

  if (dialect === 'postgres')
    verifies('post.socket.committed', 'comes after the commit, and the answer too', async () => {
      const database = await open()
      const db = await database.connect()
      await db.tx((tx) =>
        onInsert(tx, { name: 'wait', does: 'PERFORM pg_advisory_xact_lock_shared(4711)', atCommit: true }),
      )
      const parley = await serveHere({ env: { DATABASE_URL: database.url } })
      const [alice, bob] = await connected(parley)
      const socket = await socketOf(parley, bob)
      const gate = new Client(database.url)
      await gate.connect()
      for (const content of ['one', 'two', 'three']) {
        await gate.query('SELECT pg_advisory_lock(4711)')
        let answered = false
        const sent = alice.send(bob, 'Commits', content).then(({ status }) => {
          answered = true
          return status
        })
        const waiting = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
        await expect.poll(async () => (await gate.query(waiting)).rowCount, { interval: 5, timeout: 5000 }).toBe(1)
        expect([answered, socket.events]).toEqual([false, []])
        await gate.query('SELECT pg_advisory_unlock(4711)')
        expect(await sent).toBe(201)
        expect(await socket.next()).toMatchObject({ content })
      }
      await gate.end()
      socket.socket.terminate()
      await parley.stop()
    })
})
