/** Acknowledged changes that are missing at a start: told to everybody who can do something about it, and gone on with only when told to. */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { startServer } from '../../src/app/serve.ts'
import { readAcknowledged } from '../../src/db/sqlite/acknowledged.ts'
import { loadConfig } from '../../src/settings/read.ts'
import { startBus } from '../support/bus.ts'
import { parleyCommand } from '../support/cli.ts'
import { readableLog } from '../support/logged.ts'
import {
  bareEnv,
  mailbox,
  type Served,
  serveHere,
  share,
  spawnParley,
  startParley,
  temporaryFolder,
} from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

/** A store whose server was killed, with all of its mail in the log. */
const killed = share(async (later) => {
  const parley = await startParley({ later })
  for (let n = 0; n < 20; n++) await mailbox(parley, 'ann').send('bob', `message ${n}`)
  await parley.end('SIGKILL')
  return parley.storage
})

async function copyOfKilled(): Promise<{ storage: string; file: string }> {
  const storage = await temporaryFolder()
  cpSync(killed(), storage, { recursive: true })
  return { storage, file: join(storage, 'parley.sqlite3') }
}

const frameBytes = 24 + 4096

/** Ways to lose the file, and what the start says of each. */
const damages: Record<string, { damage(file: string): void; says: RegExp }> = {
  'a log that was cut': {
    damage: (file) => truncateSync(`${file}-wal`, 32 + 20 * frameBytes),
    says: /acknowledged changes? (is|are) missing from the database/,
  },
  'a log that was changed': {
    damage(file) {
      const log = readFileSync(`${file}-wal`)
      const at = log.length - 40 * frameBytes
      log.writeUInt8(log.readUInt8(at) ^ 0xff, at)
      writeFileSync(`${file}-wal`, log)
    },
    says: /acknowledged changes? (is|are) missing from the database: it ends with change \d+ of 2/,
  },
  'a log that was removed': {
    damage: (file) => rmSync(`${file}-wal`),
    says: /acknowledged changes? (is|are) missing from the database|cannot read the database/,
  },
  'a database of 0 bytes': {
    damage: (file) => writeFileSync(file, ''),
    says: /The database is empty: \d+ changes were acknowledged, the last of them at 2/,
  },
  'a database that is gone': {
    damage: (file) => rmSync(file),
    says: /There is no database any more: \d+ changes were acknowledged/,
  },
  'a database that is none any more': {
    damage(file) {
      writeFileSync(file, 'x'.repeat(8192))
      rmSync(`${file}-wal`)
    },
    says: /cannot read the database any more \(file is not a database\): \d+ changes were acknowledged/,
  },
}

/** Every file of the store. Notes of running servers come and go, and -shm is SQLite's own. */
const everything = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => !name.endsWith('-shm') && name !== 'running')
      .map((name) => [name, readFileSync(join(folder, name)).toString('base64')]),
  )

async function serveLogged(storage: string, options: { acceptLoss?: boolean } = {}) {
  const { log, lines } = readableLog()
  const server = await startServer(loadConfig(bareEnv(storage, { HTTP_PORT: '0' })), log, options)
  onTestFinished(() => server.stop().catch(() => {}))
  return { ...server, lines }
}

const readiness = async ({ url }: Pick<Served, 'url'>) => {
  const response = await fetch(`${url}/health/readiness`)
  return { code: response.status, ...((await response.json()) as { status: string; reason?: string; hint?: string }) }
}

describe('Missing changes', () => {
  for (const [name, { damage, says }] of Object.entries(damages))
    verifies('serve.store.loss', `are told: ${name}`, async () => {
      const { storage, file } = await copyOfKilled()
      damage(file)
      const before = everything(storage)
      const vacuum = await parleyCommand({ storage }, ['db', 'vacuum'])
      expect(vacuum).toMatchObject({ code: 1, stderr: expect.stringMatching(says) })
      expect(everything(storage)).toEqual(before)
      const server = await serveLogged(storage)
      const ready = await readiness(server)
      expect(ready).toMatchObject({ code: 503, status: 'unavailable', reason: expect.stringMatching(says) })
      expect(ready.hint).toMatch(/backup .*`parley restore <file> --force`/)
      expect(ready.hint).toContain(name.includes('none') ? 'clear-and-reset-everything' : '--accept-loss')
      const told = {
        event: 'changes_missing',
        level: 50,
        msg: ready.reason,
        hint: ready.hint,
        database: `SQLite ${file}`,
      }
      expect(server.lines).toContainEqual(expect.objectContaining(told))
      const refused = { code: 'STORAGE_FAILED', message: ready.reason, hint: ready.hint }
      await expect(mailbox(server, 'ann').send('bob', 'x')).rejects.toMatchObject(refused)
      await expect(mailbox(server, 'bob').check()).rejects.toMatchObject(refused)
      expect((await fetch(`${server.url}/health/liveness`)).status).toBe(200)
      const doctor = await parleyCommand({ storage }, ['doctor', '--json'], { env: { HTTP_PORT: '0' } })
      expect(doctor.code).toBe(1)
      const { findings } = JSON.parse(doctor.stdout) as { findings: object[] }
      const fault = { check: 'database', status: 'fault', says: `SQLite ${file}: ${ready.reason}`, advice: ready.hint }
      expect(findings).toContainEqual(fault)
      const command = await parleyCommand({ storage }, ['list-projects'])
      expect(command).toMatchObject({ code: 1, stderr: expect.stringContaining(ready.reason ?? '') })
      await server.stop()
      expect(everything(storage)).toEqual(before)
    })

  verifies(
    'serve.store.loss',
    'name the last change that is there, as the time from which a backup helps',
    async () => {
      const { storage, file } = await copyOfKilled()
      damages['a log that was changed']?.damage(file)
      const { reason = '', hint = '' } = await readiness(await serveLogged(storage))
      const [, count, last, at, number] =
        /^(\d+) acknowledged .* ends with change (\d+) of (\S+), and change (\d+) was/.exec(reason) ?? []
      expect(Number(count)).toBe(Number(number) - Number(last))
      expect(Number(number)).toBe(readAcknowledged(file)?.number)
      expect(hint).toContain(`A backup made after ${at} holds more than the database does`)
    },
  )

  verifies(
    'serve.store.loss',
    'are none after a plain kill, where no number is kept, or of a store that is new',
    async () => {
      const { storage, file } = await copyOfKilled()
      const server = await serveHere({ storage })
      expect(await readiness(server)).toEqual({ code: 200, status: 'ready' })
      expect(await mailbox(server, 'bob').check()).toMatchObject({ content: 'message 0' })
      await server.stop()
      rmSync(`${file}-acknowledged`)
      const older = await serveHere({ storage })
      expect(await mailbox(older, 'bob').check()).toMatchObject({ content: 'message 1' })
      await older.stop()
      expect(existsSync(`${file}-acknowledged`)).toBe(true)
    },
  )

  verifies(
    'serve.store.loss',
    'are those of a log, too, whose database is empty, though nothing was counted',
    async () => {
      const { storage, file } = await copyOfKilled()
      rmSync(`${file}-acknowledged`)
      writeFileSync(file, '')
      const before = everything(storage)
      const ready = await readiness(await serveLogged(storage))
      expect(ready).toMatchObject({
        code: 503,
        status: 'unavailable',
        reason: expect.stringContaining('the log beside it is not'),
      })
      expect(everything(storage)).toEqual(before)
    },
  )

  verifies('serve.store.loss', 'make no wrong key a fault of the server, and are told on the pages', async () => {
    const { storage, file } = await copyOfKilled()
    writeFileSync(file, '')
    const server = await serveLogged(storage)
    const { reason = '' } = await readiness(server)
    const get = async (path: string, headers: Record<string, string>) => {
      const response = await fetch(`${server.url}${path}`, { headers })
      return { status: response.status, text: await response.text() }
    }
    const wrong = { authorization: 'Bearer wrong' }
    for (const path of ['/inbox', '/mcp']) expect(await get(path, wrong), path).toMatchObject({ status: 401 })
    const page = await get('/mail', { accept: 'text/html' })
    expect(page).toMatchObject({ status: 503, text: expect.stringContaining(reason) })
    expect(page.text).toContain('parley restore')
  })

  verifies('bus.schema.loss', 'are the answer of every tool of the bus but ping, which starts', async () => {
    const { storage, file } = await copyOfKilled()
    damages['a log that was removed']?.damage(file)
    const bus = await startBus({ storage })
    expect(await bus.call('ping')).toMatchObject({ ok: true })
    const { tools } = await bus.client.listTools()
    expect(tools.length).toBeGreaterThan(5)
    const refused = { code: 'STORAGE_FAILED', hint: expect.stringContaining('parley restore') }
    await expect(bus.call('topic_create', { name: 'x' })).rejects.toMatchObject(refused)
    await expect(bus.call('topic_list')).rejects.toMatchObject(refused)
    expect(bus.log()).toContain('changes_missing')
  })
})

describe('A store that lost changes', () => {
  for (const name of ['a log that was changed', 'a database of 0 bytes', 'a database that is gone'])
    verifies('serve.store.accept-loss', `is gone on with once that is accepted: ${name}`, async () => {
      const { storage, file } = await copyOfKilled()
      damages[name]?.damage(file)
      const server = await serveLogged(storage, { acceptLoss: true })
      expect(await readiness(server)).toEqual({ code: 200, status: 'ready' })
      expect(server.lines).toContainEqual(expect.objectContaining({ event: 'loss_accepted', level: 40 }))
      await mailbox(server, 'ann').send('bob', 'afterwards')
      await server.stop()
      const again = await serveLogged(storage)
      expect(await readiness(again)).toEqual({ code: 200, status: 'ready' })
      expect(again.lines.filter(({ event }) => String(event).includes('loss'))).toEqual([])
    })

  verifies('serve.store.accept-loss', 'is not ready as a process, until it is started with the option', async () => {
    const { storage, file } = await copyOfKilled()
    writeFileSync(file, '')
    const env = bareEnv(storage, { HTTP_PORT: '0' })
    const refusing = spawnParley(['serve'], env)
    await refusing.printed(/listens at http\S+, but refuses every call\.\n\nThe database is empty/)
    refusing.child.kill('SIGTERM')
    expect(await refusing.gone).toBe(0)
    const parley = await startParley({ storage, args: ['--accept-loss'] })
    await mailbox(parley, 'ann').send('bob', 'x')
    expect(await parley.end()).toBe(0)
  })

  verifies('serve.store.accept-loss', 'is accepted by `migrate` too, which makes none where none was', async () => {
    const { storage, file } = await copyOfKilled()
    damages['a log that was changed']?.damage(file)
    expect(await parleyCommand({ storage }, ['migrate'])).toMatchObject({ code: 1 })
    expect(await parleyCommand({ storage }, ['migrate', '--accept-loss'])).toMatchObject({ code: 0 })
    expect(await parleyCommand({ storage }, ['list-projects'])).toMatchObject({ code: 0 })
    const nowhere = { storage: await temporaryFolder() }
    expect(await parleyCommand(nowhere, ['migrate', '--accept-loss'])).toMatchObject({ code: 1 })
    expect(readdirSync(nowhere.storage)).toEqual([])
  })

  verifies(
    'serve.store.accept-loss',
    'is as before once a backup is restored, which starts the count anew',
    async () => {
      for (const name of ['a log that was changed', 'a database of 0 bytes', 'a database that is none any more']) {
        const storage = await temporaryFolder()
        const server = await serveHere({ storage })
        await mailbox(server, 'ann').send('bob', 'first')
        const backup = join(storage, 'kept.tar.gz')
        expect(await parleyCommand({ storage }, ['backup', backup])).toMatchObject({ code: 0 })
        await server.stop()
        const { file } = await (async () => {
          cpSync(killed(), storage, { recursive: true, force: true })
          return { file: join(storage, 'parley.sqlite3') }
        })()
        damages[name]?.damage(file)
        expect(await parleyCommand({ storage }, ['restore', backup, '--force'])).toMatchObject({ code: 0 })
        expect(readAcknowledged(file)).toBeUndefined()
        const again = await serveHere({ storage })
        expect(await readiness(again)).toEqual({ code: 200, status: 'ready' })
        expect(await mailbox(again, 'bob').check()).toMatchObject({ content: 'first' })
        await again.stop()
      }
    },
  )

  verifies('serve.store.accept-loss', 'begins anew once all of it is cleared', async () => {
    for (const name of Object.keys(damages)) {
      const { storage, file } = await copyOfKilled()
      damages[name]?.damage(file)
      const run = await parleyCommand({ storage }, ['clear-and-reset-everything', '--force'])
      expect(run, name).toMatchObject({ code: 0 })
      expect(readdirSync(storage)).toEqual([])
    }
  })
})
