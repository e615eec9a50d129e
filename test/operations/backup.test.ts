/** `parley backup` and `parley restore`: the whole store, out of one place and into another. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { Client } from 'pg'
import sql from 'sql-template-tag'
import { expect, inject, onTestFinished } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { operator } from '../../src/core/access/callers.ts'
import { backUp } from '../../src/core/backups/writing.ts'
import { migrate, schemaState } from '../../src/db/migrate.ts'
import { migrations } from '../../src/db/migrations/all.ts'
import { keptTables, leftOut, listTables } from '../../src/store/exports/tables.ts'
import { parleyCommand } from '../support/cli.ts'
import { eachEngine } from '../support/engines.ts'
import { openTestHub } from '../support/hub.ts'
import { newDesk, plainMail } from '../support/mail.ts'
import { mailbox, serveHere, temporaryFolder } from '../support/parley.ts'
import { allRows } from '../support/stored-rows.ts'
import { verifies } from '../support/verifies.ts'

/** Mail of two doors, read and unread, with a lease. */
async function furnish(server: { url: string }): Promise<void> {
  const [alice, bob] = [mailbox(server, 'alice'), mailbox(server, 'bob')]
  await alice.send('bob', 'one 🦜', 'first')
  await alice.send('bob', 'two')
  await bob.check()
  const { send, door, project } = await newDesk(server)
  const attachment_paths = [`data:application/octet-stream;base64,${randomBytes(3000).toString('base64')}`]
  await send({ body_md: 'x'.repeat(10_000), thread_id: 'T-1', ack_required: true, attachment_paths })
  await door.call('file_reservation_paths', { project_key: project, agent_name: 'BlueLake', paths: ['src/**'] })
}

/** A store that was served and stopped, and a backup of it. */
async function backedUp(url?: string) {
  const storage = await temporaryFolder()
  const env: Record<string, string> = url === undefined ? {} : { DATABASE_URL: url }
  const server = await serveHere({ storage, env })
  await furnish(server)
  const file = join(storage, 'backup.tar.gz')
  // Some things are written when a server stops: who was active, for one.
  await server.stop()
  const made = await parleyCommand({ storage }, ['backup', file], { env })
  return { storage, file, made, url: url ?? `sqlite:${join(storage, 'parley.sqlite3')}` }
}

async function emptyPostgres(): Promise<string> {
  const url = new URL(inject('postgresUrl'))
  const admin = new Client(url.href)
  await admin.connect()
  const name = `test_${randomBytes(6).toString('hex')}`
  await admin.query(`CREATE DATABASE ${name} TEMPLATE template0`)
  onTestFinished(async () => {
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
    await admin.end()
  })
  url.pathname = name
  return url.href
}

eachEngine('A backup', (open, dialect) => {
  verifies('cli.backup.tables', 'leaves out no table that holds something of its own', async () => {
    const db = await (await open()).connect()
    const tables = (await listTables(db)).filter((name) => !leftOut(name))
    expect(tables.sort()).toEqual(keptTables.map(({ name }) => name).sort())
  })

  verifies('cli.backup.whole', 'has the same rows where it is restored', async () => {
    const [from, to] = [await open(), await open({ empty: true })]
    const { file, made } = await backedUp(from.url)
    expect(made).toMatchObject({ code: 0, stderr: '' })
    expect(made.stdout).toMatch(/backup\.tar\.gz: .* KB, with 3 messages, 5 agents, 2 projects, \d archives?\.\n$/)
    const storage = await temporaryFolder()
    const env = { DATABASE_URL: to.url }
    const restored = await parleyCommand({ storage }, ['restore', file, '--json'], { env })
    expect(restored).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(restored.stdout)).toMatchObject({ counts: { messages: 3, deliveries: 3, leases: 1 } })
    expect(await allRows(to.url)).toEqual(await allRows(from.url))
    // Numbers go on where they were, and search finds what came along.
    const again = await serveHere({ storage, env })
    expect(await mailbox(again, 'bob').check()).toMatchObject({ content: 'two' })
    await mailbox(again, 'carol').send('bob', 'three')
    expect(await mailbox(again, 'bob').check()).toMatchObject({ content: 'three', from: 'carol' })
    const found = await plainMail(again).call<unknown[]>('search_messages', { project_key: 'commons', query: 'one' })
    expect(found).toHaveLength(1)
    await again.stop()
  })

  verifies('cli.restore.engines', 'goes into the other engine', async () => {
    const { file, url: from } = await backedUp((await open()).url)
    const storage = await temporaryFolder()
    const url = dialect === 'postgres' ? `sqlite:${join(storage, 'parley.sqlite3')}` : await emptyPostgres()
    const env = { DATABASE_URL: url }
    expect(await parleyCommand({ storage }, ['restore', file], { env })).toMatchObject({ code: 0 })
    const feed = ['changes', 'followers']
    expect(await allRows(url, feed)).toEqual(await allRows(from, feed))
    const again = await serveHere({ storage, env })
    expect(await mailbox(again, 'bob').check()).toMatchObject({ content: 'two' })
    await mailbox(again, 'alice').send('bob', 'after')
    expect(await mailbox(again, 'bob').check()).toMatchObject({ content: 'after' })
    await again.stop()
  })

  verifies('cli.restore.careful', 'replaces a store only with --force, and only while nobody uses it', async () => {
    const { file } = await backedUp((await open()).url)
    const there = await open({ fresh: true })
    const storage = await temporaryFolder()
    const env = { DATABASE_URL: there.url }
    const server = await serveHere({ storage, env })
    await mailbox(server, 'dave').send('erin', 'still here')
    const restore = (...more: string[]) => parleyCommand({ storage }, ['restore', file, ...more], { env })
    const used = await restore('--force')
    expect(used).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^Another process .*\nNothing was/),
    })
    expect(await mailbox(server, 'erin').check()).toMatchObject({ content: 'still here' })
    await server.stop()
    const before = await allRows(there.url)
    expect(await restore()).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^There is a store at .* already\.\nNothing was changed\. --force/),
    })
    expect(await allRows(there.url)).toEqual(before)
    expect(await restore('--force')).toMatchObject({ code: 0 })
    const { agents = [] } = await allRows(there.url)
    expect(agents.map(({ name }) => name)).toEqual(['alice', 'bob', 'GreenCastle', 'BlueLake', 'RedStone'])
  })

  verifies('upgrade.beside.backup', 'is refused by a node that does not know all tables of the database', async () => {
    const db = await (await open()).connect()
    const last = Math.max(...migrations.map(({ id }) => id))
    const next = { id: last + 1, name: 'next', up: () => ['CREATE TABLE songs (n BIGINT)'], besideFrom: last }
    await migrate(db, [...migrations, next], systemClock)
    const hub = await openTestHub(db)
    const archives = join(await temporaryFolder(), 'projects')
    const made = backUp(hub, operator, { archives, parley: '0.0.1', write: async () => {} })
    await expect(made).rejects.toMatchObject({ code: 'DB_SCHEMA_MISMATCH' })
    await hub.close()
  })

  verifies('cli.restore.older', 'of an older Parley gets the tables of today', async () => {
    const [old, to] = [await open({ empty: true }), await open({ empty: true })]
    const db = await old.connect()
    await migrate(
      db,
      migrations.filter(({ id }) => id < 5),
      systemClock,
    )
    await db.tx((tx) =>
      tx.all(
        sql`INSERT INTO agents (project_id, name, name_key, created_at, active_at) VALUES (1, 'ａlice', 'ａlice', 5, 5)`,
      ),
    )
    const storage = await temporaryFolder()
    const file = join(storage, 'old.tar.gz')
    const hub = await openTestHub(db)
    const pieces: Buffer[] = []
    const write = async (bytes: Buffer) => void pieces.push(bytes)
    await backUp(hub, operator, { archives: join(storage, 'projects'), parley: '0.0.1', write })
    await hub.close()
    await writeFile(file, gzipSync(Buffer.concat(pieces)))
    const run = await parleyCommand({ storage }, ['restore', file], { env: { DATABASE_URL: to.url } })
    expect(run).toMatchObject({ code: 0 })
    const restored = await to.connect()
    expect(await schemaState(restored, migrations)).toBe('current')
    // A migration after the backup's has compared its name anew.
    expect(await restored.all(sql`SELECT name, name_key, keyed FROM agents`)).toEqual([
      { name: 'ａlice', name_key: 'alice', keyed: 0 },
    ])
  })
})

eachEngine('A backup', (open) => {
  verifies('cli.backup.file', 'that cannot be written further ends with the reason', async () => {
    const hub = await openTestHub(await (await open()).connect())
    const full = new Error('no space left')
    for (const pieces of [0, 3]) {
      let written = 0
      const write = async () => {
        if (written++ === pieces) throw full
      }
      const backup = backUp(hub, operator, { archives: 'none', parley: '0.0.1', write })
      await expect(backup).rejects.toBe(full)
      expect(written).toBe(pieces + 1)
    }
    await hub.close()
  })
})

verifies('cli.backup.file', 'is for its owner alone, and writes over nothing that is there', async () => {
  const { storage, file } = await backedUp()
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const before = await readFile(file)
  const again = await parleyCommand({ storage }, ['backup', file])
  expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/is there already\.\n.*--force/) })
  expect((await readFile(file)).equals(before)).toBe(true)
  expect(await parleyCommand({ storage }, ['backup', file, '--force', '--json'])).toMatchObject({ code: 0 })
  const nowhere = await parleyCommand({ storage }, ['backup', join(storage, 'no', 'such', 'folder.tar.gz')])
  expect(nowhere).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^The file cannot be written: .*\nNo backup/),
  })
  expect((await readdir(storage)).filter((name) => name.includes('partial'))).toEqual([])
})

verifies('cli.restore.checked', 'one that is damaged in any way is refused, and nothing is made', async () => {
  const { file } = await backedUp()
  const whole = await readFile(file)
  const plain = gunzipSync(whole)
  const changed = Buffer.from(plain)
  const at = changed.indexOf('"two"')
  changed.write('"TWO"', at)
  const newer = Buffer.from(plain)
  newer.write('"version": 9', newer.lastIndexOf('"version": 1'))
  const cases: [string, Buffer, RegExp][] = [
    ['cut off', whole.subarray(0, whole.length - 40), /cut off/],
    ['cut off between two parts', gzipSync(plain.subarray(0, 512 * 20)), /cannot be restored/],
    ['a changed letter', gzipSync(changed), /checksum/],
    ['a newer format', gzipSync(newer), /newer Parley/],
    ['another file', Buffer.from('hello'), /cannot be restored/],
    ['no tar file', gzipSync(Buffer.alloc(2000, 'x')), /no tar file/],
  ]
  for (const [name, bytes, says] of cases) {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'bad.tar.gz'), bytes)
    const storage = join(folder, 'store')
    const run = await parleyCommand({ storage }, ['restore', join(folder, 'bad.tar.gz')])
    expect({ name, ...run }).toMatchObject({ name, code: 1, stdout: '', stderr: expect.stringMatching(says) })
    expect(run.stderr).toContain('Nothing was changed.')
    expect(existsSync(storage)).toBe(false)
  }
})

verifies(
  'cli.backup.archives',
  'takes repositories along, and no checked out file: all of them are in the repository',
  async () => {
    const storage = await temporaryFolder()
    const server = await serveHere({ storage, env: { ARCHIVE_ENABLED: 'false' } })
    await mailbox(server, 'alice').send('bob', 'x')
    await server.stop()
    const long = `w${'e'.repeat(70)}b`
    const pack = `${long}/.git/objects/pack/pack-${'ab'.repeat(20)}.pack`
    const bytes = randomBytes(300_000)
    const files: Record<string, Buffer | string> = {
      '.archive.json': '{"id":"abc","place":{"tx":0,"id":1}}',
      [`${long}/.git/HEAD`]: 'ref: refs/heads/main\n',
      [`${long}/.git/config`]: 'made anew',
      [pack]: bytes,
      [`${long}/.git/packed-refs`]: '',
      [`${long}/.git/index`]: 'not kept',
      [`${long}/.git/parley/shown`]: 'not kept',
      [`${long}/.git/parley/messages`]: 'slots',
      [`${long}/attachments/ab/picture.webp`]: 'is in the repository',
      [`${long}/messages/2026/01/one.md`]: 'is in the repository',
    }
    for (const [name, text] of Object.entries(files)) {
      await mkdir(join(storage, 'projects', name, '..'), { recursive: true })
      await writeFile(join(storage, 'projects', name), text)
    }
    const file = join(storage, 'backup.tar.gz')
    expect(await parleyCommand({ storage }, ['backup', file])).toMatchObject({ code: 0 })
    const other = await temporaryFolder()
    const run = await parleyCommand({ storage: other }, ['restore', file])
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('1 archive.') })
    const found = (await readdir(join(other, 'projects'), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(join(other, 'projects').length + 1))
    const kept = Object.keys(files).filter(
      (name) => files[name] !== 'not kept' && files[name] !== 'is in the repository',
    )
    expect(found.sort()).toEqual(kept.sort())
    expect((await readFile(join(other, 'projects', pack))).equals(bytes)).toBe(true)
  },
)
