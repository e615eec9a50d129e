/** `kill -9` while mail is archived: after the next start everything is there, once, and git finds nothing amiss. */
import { expect } from 'vitest'
import { archived, repositoryOf } from '../support/archive.ts'
import { eachEngine } from '../support/engines.ts'
import { mailbox, serveHere, startParley, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const total = 300

eachEngine('The archive', (open) => {
  verifies(
    ['mail.archive.killed', 'mail.archive.sound'],
    'is whole soon after a restart, though the server was killed in the middle of 300 sends',
    async () => {
      const storage = await temporaryFolder()
      const options = { storage, env: { DATABASE_URL: (await open()).url, ...archived } }
      const parley = await startParley(options)
      const { exists, sound, files, subjects } = repositoryOf(storage, 'commons')
      const sent = new Set<number>()
      let next = 0
      const write = async (at: { url: string }) => {
        while (next < total) {
          const n = next++
          await mailbox(at, `sender-${n % 10}`).send('target', `message ${n}`, String(n))
          sent.add(n)
        }
      }
      const writers = Array.from({ length: 4 }, () => write(parley).catch(() => {}))
      await expect.poll(() => sent.size > total / 2 && exists(), { timeout: 30_000, interval: 5 }).toBe(true)
      await parley.end('SIGKILL')
      await Promise.all(writers)
      const again = await serveHere(options)
      next = sent.size
      await write(again)
      const canonical = async () => (await files()).filter((path) => /^messages\/\d/.test(path)).length
      await expect.poll(canonical, { timeout: 30_000, interval: 200 }).toBeGreaterThanOrEqual(sent.size)
      await sound()
      const mails = (await subjects()).filter((subject) => subject.startsWith('mail:'))
      expect(new Set(mails).size).toBe(mails.length)
      expect(await canonical()).toBe(mails.length)
      await again.stop()
    },
    90_000,
  )
})
