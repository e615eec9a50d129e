/** `kill -9` while mail is archived: after the next start everything is there, once, and git finds nothing amiss. */
import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { archived, repositoryOf } from '../support/archive.ts'
import { parleyCommand } from '../support/cli.ts'
import { eachEngine } from '../support/engines.ts'
import { newDesk } from '../support/mail.ts'
import { mailbox, serveHere, startParley, temporaryFolder } from '../support/parley.ts'
import { uriOf } from '../support/pictures.ts'
import { verifies } from '../support/verifies.ts'

const total = 120

eachEngine('The archive', (open, dialect) => {
  verifies(
    ['mail.archive.killed', 'mail.archive.sound'],
    'is whole soon after a restart, though the server was killed in the middle of 120 sends',
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

  // From the store on, files go the same way on both engines.
  if (dialect === 'postgres') return

  verifies(
    ['mail.archive.killed', 'mail.archive.files'],
    'has every attachment after a restart, though the server was killed right after the last send',
    async () => {
      const storage = await temporaryFolder()
      const options = { storage, env: { DATABASE_URL: (await open()).url, ...archived } }
      const parley = await startParley(options)
      const desk = await newDesk(parley)
      const { slug } = await desk.door.call<{ slug: string }>('ensure_project', { human_key: desk.project })
      const { sound, files } = repositoryOf(storage, slug)
      const attached = async () =>
        (await files().catch(() => [])).filter((path) => path.startsWith('attachments/')).sort()
      const paths: (string | undefined)[] = []
      for (let n = 0; n < 6; n++) {
        const sent = await desk.send({ attachment_paths: [uriOf('application/zip', randomBytes(1_000_000))] })
        paths.push((sent as unknown as { attachments: { path: string }[] }).attachments[0]?.path)
      }
      await parley.end('SIGKILL')
      const again = await serveHere(options)
      await expect.poll(attached, { timeout: 30_000, interval: 200 }).toEqual(paths.sort())
      await sound()
      expect(await parleyCommand(again, ['archive', 'verify'], options)).toMatchObject({ code: 0 })
      await again.stop()
    },
    90_000,
  )
})
