/** Several processes on one database, on both engines. */
import { once } from 'node:events'
import sql from 'sql-template-tag'
import { expect, test } from 'vitest'
import { steps } from '../../test/support/db-steps.ts'
import { eachEngine } from '../../test/support/engines.ts'
import { startChild } from '../../test/support/processes.ts'
import type { Db, Wake } from './port.ts'

eachEngine('Several processes', (open, dialect) => {
  async function withEntries(): Promise<{ url: string; db: Db }> {
    const database = await open({ empty: true })
    const db = await database.connect()
    await db.tx((tx) =>
      tx.all(sql`CREATE TABLE entries (author TEXT NOT NULL, n BIGINT NOT NULL, PRIMARY KEY (author, n))`),
    )
    return { url: database.url, db }
  }

  /** Listens, and resolves `next` with the topics of the next wake-up. */
  async function listen(db: Db): Promise<{ all: (readonly string[] | undefined)[]; next: () => Promise<void> }> {
    const all: (readonly string[] | undefined)[] = []
    let woken = () => {}
    const wake: Wake = (topics) => {
      all.push(topics)
      woken()
    }
    await db.listen(wake)
    return {
      all,
      next: () =>
        new Promise((resolve) => {
          woken = resolve
        }),
    }
  }

  test('write at once, and none is told that the database is busy, and nothing is lost', async () => {
    const { url, db } = await withEntries()
    const authors = ['a', 'b', 'c', 'd']
    const children = authors.map((author) => startChild('write', url, author, '300'))
    await Promise.all(children.map((child) => child.says('ready')))
    for (const child of children) child.tell('go')
    const own = Array.from({ length: 300 }, (_, n) =>
      db.tx((tx) => tx.all(sql`INSERT INTO entries (author, n) VALUES ('me', ${n})`)),
    )
    await Promise.all([...own, ...children.map((child) => child.ended)])
    const counts = await db.all(sql`SELECT author, COUNT(*) AS count FROM entries GROUP BY author ORDER BY author`)
    expect(counts).toEqual([...authors, 'me'].map((author) => ({ author, count: 300 })))
  })

  test('are not held up by one that was killed in the middle of a transaction, which leaves nothing behind', async () => {
    const { url, db } = await withEntries()
    const child = startChild('hold', url, 'dead')
    await child.says('holding')
    const waiting = db.tx((tx) => tx.all(sql`INSERT INTO entries (author, n) VALUES ('dead', 0)`))
    child.process.kill('SIGKILL')
    await once(child.process, 'exit')
    await waiting
    expect(await db.all(sql`SELECT author, n FROM entries`)).toEqual([{ author: 'dead', n: 0 }])
  })

  test('hear of each other’s commits, not of their own', async () => {
    const { url, db } = await withEntries()
    const wakes = await listen(db)
    for (let n = 0; n < 10; n++) {
      await db.tx((tx) => tx.all(sql`INSERT INTO entries (author, n) VALUES ('me', ${n})`))
      db.announce(['mine'])
    }
    const woken = wakes.next()
    const child = startChild('announce', url, 'other', 'room/7')
    await woken
    await child.ended
    const known = wakes.all.filter((topics) => topics !== undefined)
    expect(known).toEqual(dialect === 'postgres' ? [['room/7']] : [])
    expect(await db.all(sql`SELECT n FROM entries WHERE author = 'other'`)).toHaveLength(1)
  })

  test('that stop listening hear no more, while others do', async () => {
    const { url, db } = await withEntries()
    const stopped: unknown[] = []
    const stop = await db.listen((topics) => stopped.push(topics))
    const wakes = await listen(db)
    await stop()
    const woken = wakes.next()
    await Promise.all([woken, startChild('announce', url, 'other', 'room/7').ended])
    expect(stopped).toEqual([])
  })

  test('start at once on an empty database, and each migration is applied once', async () => {
    const database = await open({ empty: true })
    const children = Array.from({ length: 8 }, () => startChild('migrate', database.url))
    await Promise.all(children.map((child) => child.says('ready')))
    for (const child of children) child.tell('go')
    await Promise.all(children.map((child) => child.ended))
    const db = await database.connect()
    expect(await db.all(sql`SELECT id, name FROM parley_migrations ORDER BY id`)).toEqual(
      steps.map(({ id, name }) => ({ id, name })),
    )
    expect(await db.all(sql`SELECT name FROM rooms`)).toEqual([{ name: 'hall' }])
  })
})
