/** Several servers and one archive, or one each: one of them archives at a time, and another goes on when it dies. */
import { expect } from 'vitest'
import { archived, repositoryOf } from '../support/archive.ts'
import { parleyCommand } from '../support/cli.ts'
import { eachEngine } from '../support/engines.ts'
import { plainMail } from '../support/mail.ts'
import { mailbox, serveHere, startParley, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const total = 120

/** Each look is a process. */
const seldom = { timeout: 60_000, interval: 200 }

eachEngine('Two servers', (open, dialect) => {
  const mailsOf = async ({ subjects }: ReturnType<typeof repositoryOf>) =>
    (await subjects().catch(() => [])).filter((subject) => subject.startsWith('mail:'))

  verifies(
    ['mail.archive.taken-over', 'mail.archive.killed', 'mail.tooling.archiver'],
    'share an archive, and the other takes over when one is killed in the middle of 120 sends',
    async () => {
      const storage = await temporaryFolder()
      const env = { DATABASE_URL: (await open()).url, ...archived }
      const servers = [await startParley({ storage, env }), await startParley({ storage, env })] as const
      const commons = repositoryOf(storage, 'commons')
      const owner = async (at: { url: string }) => {
        const { locks } = await plainMail(at).read<{ locks: { name: string; owner: string }[] }>(
          'resource://tooling/locks',
        )
        return locks.find(({ name }) => name.startsWith('follow archive '))?.owner.split('/')[1]
      }
      let sent = 0
      const write = async (from: number, to: number) => {
        for (let n = from; n < to; n++) {
          // A server that is gone is passed over.
          for (const server of [servers[n % 2], servers[(n + 1) % 2]])
            if (
              server !== undefined &&
              (await mailbox(server, `sender-${n % 7}`)
                .send('target', `message ${n}`, String(n))
                .then(
                  () => true,
                  () => false,
                ))
            ) {
              sent++
              break
            }
        }
      }
      await write(0, 20)
      await expect.poll(async () => (await mailsOf(commons)).length, seldom).toBeGreaterThan(0)
      const writers = [write(20, 70), write(70, total)]
      await expect.poll(() => sent > 50, { timeout: 30_000, interval: 5 }).toBe(true)
      const pid = await owner(servers[0])
      const [dies, lives] = String(servers[0].child.pid) === pid ? servers : [servers[1], servers[0]]
      expect(String(dies.child.pid)).toBe(pid)
      await dies.end('SIGKILL')
      await Promise.all(writers)
      expect(sent).toBe(total)
      await expect.poll(async () => new Set(await mailsOf(commons)).size, seldom).toBe(total)
      expect(await mailsOf(commons)).toHaveLength(total)
      await commons.sound()
      expect(await owner(lives)).toBe(String(lives.child.pid))
      expect(await parleyCommand({ storage }, ['archive', 'verify'], { env })).toMatchObject({ code: 0 })
      expect(await lives.end()).toBe(0)
    },
    120_000,
  )

  // Nodes with disks of their own have their database elsewhere.
  if (dialect === 'sqlite') return

  verifies(
    'mail.archive.own-disk',
    'with storage of their own each have a whole archive',
    async () => {
      const env = { DATABASE_URL: (await open()).url, ...archived }
      const servers = [await serveHere({ env }), await serveHere({ env })] as const
      for (let n = 0; n < 10; n++) await mailbox(servers[n % 2] ?? servers[0], 'ann').send('bob', `message ${n}`)
      for (const { storage } of servers) {
        const commons = repositoryOf(storage, 'commons')
        await expect.poll(async () => (await mailsOf(commons)).length, seldom).toBe(10)
        await commons.sound()
      }
      for (const server of servers) await server.stop()
    },
    60_000,
  )
})
