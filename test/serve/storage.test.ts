/** Trouble of a SQLite file, as callers, the log and readiness tell of it: deleted, replaced, damaged, no room left. */
import { closeSync, copyFileSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import sql, { raw } from 'sql-template-tag'
import { expect, inject, onTestFinished } from 'vitest'
import { longReader } from '../../src/core/hub/hub.ts'
import { listInbox } from '../../src/core/mail/inbox.ts'
import { send } from '../../src/core/messages/send.ts'
import type { Flush } from '../../src/db/sqlite/disk.ts'
import { openSqlite } from '../../src/db/sqlite/sqlite.ts'
import { as, openTestHub } from '../support/hub.ts'
import { readableLog } from '../support/logged.ts'
import { mailbox, startParley, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

async function begin(freeBytes = async () => 2 ** 40, flush?: Flush) {
  const file = join(await temporaryFolder(), 'parley.sqlite3')
  copyFileSync(inject('sqliteTemplate'), file)
  const { log, lines } = readableLog()
  const db = await openSqlite(file, { freeBytes, ...(flush && { flush }) })
  const hub = await openTestHub(db, { log })
  onTestFinished(() => hub.close())
  const write = (body = 'x') => send(hub, as('ann'), { to: [{ name: 'bob' }], body })
  await write()
  return { file, hub, db, write, troubles: () => lines.filter(({ event }) => event === 'storage_failed') }
}

const refused = (words: string) => ({ code: 'STORAGE_FAILED', message: expect.stringContaining(words) })

verifies('serve.store.gone', 'a deleted file: nothing more is acknowledged, and the log says it once', async () => {
  const { file, hub, write, troubles } = await begin()
  for (const end of ['', '-wal', '-shm']) rmSync(file + end)
  // At once: no write is acknowledged after the file has gone.
  await expect(write()).rejects.toMatchObject(refused('deleted or replaced'))
  await expect(hub.ready()).rejects.toThrow()
  await Promise.allSettled([write(), write(), hub.ready()])
  expect(troubles()).toMatchObject([{ level: 50, msg: expect.stringContaining('deleted or replaced') }])
})

verifies(
  'serve.store.gone',
  'a file that is moved away is noticed within a second, and once it is back, all is well',
  async () => {
    const { file, hub, write, troubles } = await begin()
    renameSync(file, `${file}.away`)
    await expect.poll(troubles, { timeout: 2_000 }).toHaveLength(1)
    await expect(write()).rejects.toMatchObject(refused('deleted or replaced'))
    await expect(hub.ready()).rejects.toThrow()
    renameSync(`${file}.away`, file)
    // By itself: a balancer sends no write to a node that is not ready.
    await expect
      .poll(
        () =>
          hub.ready().then(
            () => 'ready',
            () => 'not ready',
          ),
        { timeout: 5_000 },
      )
      .toBe('ready')
    await write()
  },
)

verifies('serve.store.gone', 'a file that another took the place of is not written any more', async () => {
  const { file, hub, write } = await begin()
  copyFileSync(inject('sqliteTemplate'), `${file}.other`)
  const size = statSync(`${file}.other`).size
  renameSync(`${file}.other`, file)
  await expect(write()).rejects.toMatchObject(refused('deleted or replaced'))
  await expect(hub.ready()).rejects.toThrow()
  expect(statSync(file).size).toBe(size)
})

verifies('serve.store.gone', 'a write into a deleted WAL is not acknowledged, on a new store either', async () => {
  const file = join(await temporaryFolder(), 'parley.sqlite3')
  copyFileSync(inject('sqliteTemplate'), file)
  const hub = await openTestHub(await openSqlite(file))
  onTestFinished(() => hub.close())
  await send(hub, as('ann'), { to: [{ name: 'bob' }], body: 'x' })
  rmSync(`${file}-wal`)
  await expect(send(hub, as('ann'), { to: [{ name: 'bob' }], body: 'y' })).rejects.toMatchObject(
    refused('deleted or replaced'),
  )
})

// Stronger than a number of milliseconds after the deletion: within those a send could begin and still be acknowledged. One that
// began before may be answered late where the machine is busy; it was committed while the file was there.
for (const ends of [['', '-wal', '-shm'], [''], ['-wal'], ['-shm']])
  verifies(
    'serve.store.gone',
    `deleted under load (${ends.map((end) => end || 'the file').join(', ')}): no send that begins later is acknowledged, and the server lives on`,
    async () => {
      const parley = await startParley()
      let [deletedAt, refused] = [Number.POSITIVE_INFINITY, 0]
      const late: number[] = []
      const lanes = Array.from({ length: 64 }, async (_, n) => {
        const sender = mailbox(parley, `ann${n}`)
        for (let sent = 0; refused < 64 && sent < 1_000; sent++) {
          const begun = performance.now()
          const id = `${n}/${Math.floor(sent / 2)}`
          // Each is sent twice: a retry writes nothing, and is acknowledged no more than the send itself.
          const stored = await sender.send(`bob${n}`, id, id).catch(() => undefined)
          if (stored === undefined) refused++
          else if (begun > deletedAt) late.push(performance.now() - deletedAt)
        }
      })
      await Promise.all(lanes.map((_, n) => mailbox(parley, `early${n}`).send('bob', 'x')))
      for (const end of ends) rmSync(join(parley.storage, `parley.sqlite3${end}`))
      deletedAt = performance.now()
      await Promise.all(lanes)
      expect({ late, refused: refused >= 64 }).toEqual({ late: [], refused: true })
      await expect(mailbox(parley, 'ann').send('bob', 'hello')).rejects.toMatchObject({ code: 'STORAGE_FAILED' })
      expect((await fetch(`${parley.url}/health/readiness`)).status).toBe(503)
      expect((await fetch(`${parley.url}/health/liveness`)).status).toBe(200)
      expect(`${parley.output.stdout}${parley.output.stderr}`.match(/storage_failed/g)).toHaveLength(1)
      expect(await parley.end()).toBe(0)
    },
    30_000,
  )

verifies('serve.store.damaged', 'whoever reads or writes a damaged file is told the same', async () => {
  const before = await begin()
  for (let n = 0; n < 50; n++) await before.write('y'.repeat(5_000))
  await before.hub.close()
  const { log, lines } = readableLog()
  const hub = await openTestHub(await openSqlite(before.file), { log })
  onTestFinished(() => hub.close())
  const handle = openSync(before.file, 'r+')
  const spared = 4_096
  const { size } = statSync(before.file)
  writeSync(handle, Buffer.alloc(size - spared, 0xff), 0, size - spared, spared)
  closeSync(handle)
  await expect(listInbox(hub, as('bob'), { limit: 10 })).rejects.toMatchObject(refused('damaged'))
  await expect(longReader(hub).all(sql`SELECT body FROM messages`)).rejects.toMatchObject(refused('damaged'))
  await expect(hub.ready()).rejects.toMatchObject(refused('damaged'))
  await expect(send(hub, as('ann'), { to: [{ name: 'bob' }], body: 'x' })).rejects.toMatchObject(refused('damaged'))
  // A look finds nothing wrong with the file, and that is no reason to tell it all again.
  await sleep(1100)
  await expect(listInbox(hub, as('bob'), { limit: 10 })).rejects.toMatchObject(refused('damaged'))
  expect(lines.filter(({ event }) => event === 'storage_failed')).toHaveLength(1)
})

verifies(
  'serve.store.unflushed',
  'after one failed flush every write is refused, and log and readiness say so until a restart',
  async () => {
    let fails = false
    const { file, hub, write, troubles } = await begin(undefined, () => {
      if (fails) throw new Error('EIO: i/o error, fdatasync')
    })
    fails = true
    await expect(write('may be lost')).rejects.toMatchObject(refused('may be lost if the power goes'))
    fails = false
    for (let n = 0; n < 2; n++) await expect(write()).rejects.toMatchObject(refused('Nothing can be stored'))
    await expect(hub.ready()).rejects.toMatchObject(refused('Nothing can be stored'))
    expect(troubles().map(({ msg }) => msg)).toEqual([
      expect.stringContaining('may be lost if the power goes'),
      expect.stringContaining('Nothing can be stored'),
    ])
    const again = await openTestHub(await openSqlite(file))
    onTestFinished(() => again.close())
    await send(again, as('ann'), { to: [{ name: 'bob' }], body: 'x' })
    await again.ready()
  },
)

verifies(
  'serve.store.full',
  'a write that finds no room is told, and the hub is not ready until one succeeds',
  async () => {
    let free = 0
    const { hub, db, write } = await begin(async () => free)
    const [pages] = await db.all<{ page_count: number }>(sql`PRAGMA page_count`)
    await db.tx((tx) => tx.all(sql`PRAGMA max_page_count = ${raw(String((pages?.page_count ?? 0) + 10))}`))
    await expect(write('x'.repeat(200_000))).rejects.toMatchObject(refused('disk is full'))
    await expect(hub.ready()).rejects.toMatchObject(refused('disk is full'))
    await db.tx((tx) => tx.all(sql`PRAGMA max_page_count = 1000000`))
    free = 2 ** 40
    await write('x'.repeat(200_000))
    await hub.ready()
  },
)

verifies(
  'serve.store.full',
  'a disk that has no room for a request is not ready, and the log says it once',
  async () => {
    let free = 2 ** 40
    const { hub, write, troubles } = await begin(async () => free)
    await hub.ready()
    free = 1024
    await expect(hub.ready()).rejects.toMatchObject({ kind: 'full' })
    await expect.poll(troubles, { timeout: 3_000 }).toHaveLength(1)
    // A small one may still find its place: that makes it neither ready nor worth another line.
    await write()
    await expect(hub.ready()).rejects.toMatchObject({ kind: 'full' })
    free = 2 ** 40
    await hub.ready()
  },
)
