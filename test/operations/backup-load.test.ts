/** A backup that is made while a server takes messages and archives them, restored elsewhere. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { archived, isArchiveAtRest, repositoryOf } from '../support/archive.ts'
import { parleyCommand } from '../support/cli.ts'
import { eachEngine } from '../support/engines.ts'
import { newDesk } from '../support/mail.ts'
import { mailbox, startParley, temporaryFolder } from '../support/parley.ts'
import { allRows } from '../support/stored-rows.ts'
import { verifies } from '../support/verifies.ts'

const before = 60

eachEngine('A backup under load', (open) => {
  verifies(
    ['cli.backup.live', 'cli.backup.archives'],
    'has all that was answered before, nothing half, and becomes the same archive elsewhere',
    async () => {
      const [from, to] = [await open(), await open({ empty: true })]
      const envs = { from: { DATABASE_URL: from.url, ...archived }, to: { DATABASE_URL: to.url, ...archived } }
      const parley = await startParley({ env: envs.from })
      const { send, door, project } = await newDesk(parley)
      const { slug } = await door.call<{ slug: string }>('ensure_project', { human_key: project })
      const bytes = randomBytes(5000)
      const attachment_paths = [`data:application/zip;base64,${bytes.toString('base64')}`]
      const sent: number[] = []
      const next = async () => {
        const n = sent.length
        const more = n % 20 === 0 ? { attachment_paths } : {}
        sent.push((await send({ thread_id: `T-${n % 3}`, body_md: `message ${n}`, ...more })).message_id)
      }
      while (sent.length < before) await next()
      const here = repositoryOf(parley.storage, slug)
      await expect.poll(() => here.subjects().catch(() => []), { timeout: 20_000, interval: 200 }).not.toEqual([])
      let going = true
      const load = (async () => {
        while (going) await next()
      })()
      const file = join(parley.storage, 'backup.tar.gz')
      const made = await parleyCommand(parley, ['backup', file], { env: envs.from })
      const answered = sent.length
      going = false
      await load
      expect(made).toMatchObject({ code: 0, stderr: '' })
      expect(answered).toBeGreaterThan(before)

      const storage = await temporaryFolder()
      expect(await parleyCommand({ storage }, ['restore', file], { env: envs.to })).toMatchObject({ code: 0 })
      const { messages = [], deliveries = [], agents = [], changes = [] } = await allRows(to.url)
      expect(messages.length).toBeGreaterThanOrEqual(before)
      expect(messages.length).toBeLessThanOrEqual(sent.length)
      expect(messages.map(({ id, body }) => [Number(id), body])).toEqual(
        messages.map((_, n) => [sent[n], `message ${n}`]),
      )
      expect(deliveries).toHaveLength(messages.length)
      expect(agents.find(({ name }) => name === 'BlueLake')).toMatchObject({ unread: messages.length })
      expect(changes.filter(({ kind }) => kind === 'message.sent')).toHaveLength(messages.length)

      // The restored repository is whole, and a server brings it to what its database has.
      const there = repositoryOf(storage, slug)
      expect(await there.git('fsck', '--full', '--strict', '--no-dangling')).toBe('')
      const begun = (await there.git('rev-parse', 'main')).trim()
      const again = await startParley({ storage, env: envs.to })
      for (const [at, env] of [[parley, envs.from] as const, [again, envs.to] as const])
        await expect
          .poll(
            async () => {
              if (!isArchiveAtRest(at.storage)) return undefined
              const { stdout } = await parleyCommand(at, ['archive', 'verify', '--json'], { env })
              const { sound, waiting } = JSON.parse(stdout || '{}') as { sound?: boolean; waiting?: number }
              return { sound, waiting }
            },
            { timeout: 30_000, interval: 300 },
          )
          .toEqual({ sound: true, waiting: 0 })
      await there.sound()
      expect((await there.git('merge-base', begun, 'main')).trim()).toBe(begun)
      // Digests and profiles tell of the time behind the backup; a message file never changes.
      const filesOf = async (one: typeof here) =>
        (await one.git('ls-tree', '-r', 'main'))
          .split('\n')
          .filter((line) => /\t(attachments|messages\/\d|agents\/.*\/(in|out)box)/.test(line))
      const restored = await filesOf(there)
      expect(restored).toHaveLength(3 * messages.length + 1)
      expect(await filesOf(here)).toEqual(expect.arrayContaining(restored))
      const [path = ''] = restored.flatMap((line) => /attachments\/\S+/.exec(line) ?? [])
      expect(readFileSync(join(there.folder, path)).equals(bytes)).toBe(true)

      // Mail goes on there.
      await mailbox(again, 'alice').send('bob', 'after')
      expect(await mailbox(again, 'bob').check()).toMatchObject({ content: 'after' })
      for (const one of [parley, again]) expect(await one.end()).toBe(0)
    },
    90_000,
  )
})
