/** `parley retention`: what people see of it, the exports that it leaves, and the archive afterwards. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { openDb } from '../../src/db/open.ts'
import { archived, isArchiveAtRest, repositoryOf } from '../support/archive.ts'
import { parleyCommand } from '../support/cli.ts'
import { newDesk } from '../support/mail.ts'
import { serveHere, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const day = 86_400_000

verifies(
  ['mail.retention.plan', 'mail.retention.archive', 'mail.retention.back', 'cli.backup.exports'],
  'old mail leaves store and archive for files, and comes back from them',
  async () => {
    const env = { ...archived, RETENTION_MAX_AGE_DAYS: '30' }
    const server = await serveHere({ env })
    const desk = await newDesk(server)
    const { slug } = await desk.door.call<{ slug: string }>('ensure_project', { human_key: desk.project })
    const first = await desk.send({ thread_id: 'OLD-1', body_md: 'old words', bcc: ['RedStone'] })
    await desk.reply(first.message_id, 'BlueLake', { body_md: 'old answer' })
    await desk.send({ thread_id: 'OLD-2', ack_required: true, body_md: 'not acknowledged' })
    for (const name of ['BlueLake', 'RedStone', 'GreenCastle']) await desk.inbox(name)

    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await parleyCommand(server, args, { env })
      return { code, stdout, stderr, json: () => JSON.parse(stdout) as Record<string, unknown> }
    }
    const repository = repositoryOf(server.storage, slug)
    const archivedAll = () =>
      expect
        .poll(async () => isArchiveAtRest(server.storage) && (await run('archive', 'verify', '--json')).json(), {
          timeout: 30_000,
          interval: 100,
        })
        .toMatchObject({ waiting: 0, sound: true, findings: [] })
    await archivedAll()
    const db = await openDb(`sqlite:${join(server.storage, 'parley.sqlite3')}`)
    await db.tx((tx) => tx.all(sql`UPDATE deliveries SET read_at = sent_at WHERE read_at IS NULL`))
    await db.tx((tx) => tx.all(sql`UPDATE agents SET unread = 0`))
    expect((await run('retention', 'plan')).stdout).toMatch(/No mail can be moved out/)
    for (const table of ['messages', 'threads'])
      await db.tx((tx) => tx.all(sql([`UPDATE ${table} SET created_at = created_at - ${31 * day}`])))
    for (const table of ['outbox', 'deliveries'])
      await db.tx((tx) => tx.all(sql([`UPDATE ${table} SET sent_at = sent_at - ${31 * day}`])))
    await db.close()
    // The files of the archive bear the month of their messages.
    expect((await run('archive', 'rebuild')).code).toBe(0)
    await archivedAll()
    const isOld = (path: string) => path.includes('OLD-1')
    expect((await repository.files()).filter(isOld)).toHaveLength(1)

    expect((await run('retention', 'report')).stdout).toMatch(/3 older than 30 days/)
    const plan = (await run('retention', 'plan', '--json')).json()
    expect(plan).toMatchObject({ max_age_days: 30 })
    expect((plan.projects as object[]).find((one) => (one as { project: string }).project === slug)).toMatchObject({
      threads: 1,
      messages: 2,
      senders: [
        { agent: 'BlueLake', messages: 1 },
        { agent: 'GreenCastle', messages: 1 },
      ],
      old_threads_that_stay: 1,
    })
    expect((await run('retention', 'plan')).stdout).toMatch(/Git keeps them/)
    expect(await run('retention', 'apply')).toMatchObject({ code: 2, stderr: expect.stringMatching(/--force/) })
    const before = (await repository.files()).length
    expect((await run('retention', 'apply', '--force', '--json')).json()).toMatchObject({ threads: 1, messages: 2 })
    const folder = join(server.storage, 'retention')
    const [file = '', ...more] = readdirSync(folder)
    expect(more).toEqual([])
    expect(statSync(join(folder, file)).mode & 0o077).toBe(0)

    await archivedAll()
    const after = await repository.files()
    expect(after.filter(isOld)).toEqual([])
    // Two messages, each with its outbox, three inboxes in all, and the digest.
    expect(before - after.length).toBe(8)
    expect(await repository.git('log', '-p', '--format=%s', 'main')).toContain('old words')
    expect(await desk.resource('thread/OLD-1').catch((error: Error) => error.message)).toMatch(/OLD-1/)

    const backup = join(server.storage, 'backup.tar.gz')
    await run('backup', backup)
    const elsewhere = await temporaryFolder()
    expect(await parleyCommand({ storage: elsewhere }, ['restore', backup], { env })).toMatchObject({ code: 0 })
    const text = (storage: string) => readFileSync(join(storage, 'retention', file), 'utf8')
    expect(text(elsewhere)).toBe(text(server.storage))

    expect((await run('import', join(folder, file), '--missing', '--json')).json()).toMatchObject({
      messages: 2,
      passed_over: 0,
    })
    expect((await run('import', join(folder, file), '--missing', '--json')).json()).toMatchObject({
      messages: 0,
      passed_over: 1,
    })
    const { messages } = await desk.resource('thread/OLD-1', '&include_bodies=true')
    expect(messages.map(({ body_md }) => body_md)).toEqual(['old words', 'old answer'])
    await archivedAll()
    await server.stop()
  },
)
