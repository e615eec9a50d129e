/** Servers and bus processes that start on what a death inside of a checkpoint left, and servers killed while their log grows. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { startBus } from '../support/bus.ts'
import { type Death, deaths, imageOf, leaveDead, pagesOf } from '../support/checkpoints.ts'
import { parleyCommand } from '../support/cli.ts'
import { mailbox, serveHere, startParley, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

/** Mail in the log of a store, as of a moment when nobody wrote. */
async function logged() {
  const server = await serveHere()
  for (let n = 0; n < 60; n++) await mailbox(server, 'ann').send('bob', `${n} `.repeat(1_000))
  const bus = await startBus({ storage: server.storage })
  const topic = await bus.join('ann', 'news')
  await bus.send(topic, 'one', 'two')
  return imageOf(join(server.storage, 'parley.sqlite3'))
}

verifies(
  'serve.store.checkpoint',
  'servers, bus processes and doctor take what is left of it at every kind of step',
  async () => {
    const image = await logged()
    const pages = pagesOf(image).length
    const all = deaths(image, 200)
    // The header page half written, the first pages, the middle, the end; each with another index.
    const chosen = [1, 2, 3, pages, pages + 1, 2 * pages - 1, 2 * pages].flatMap((n) => all[n] ?? [])
    const storage = await temporaryFolder()
    const file = join(storage, 'parley.sqlite3')
    /** The number goes too: what the round before has acknowledged is not in this image. */
    const begin = (death: Death) => {
      leaveDead(file, image, death)
      rmSync(`${file}-acknowledged`, { force: true })
    }
    for (const death of chosen) {
      begin(death)
      const { stdout } = await parleyCommand({ storage }, ['doctor', '--json'], { env: { HTTP_PORT: '0' } })
      const { findings } = JSON.parse(stdout) as { findings: { check: string; status: string }[] }
      expect(findings.filter(({ check }) => check === 'database')).toMatchObject([{ status: 'ok' }])
      begin(death)
      const server = await serveHere({ storage })
      expect(await mailbox(server, 'bob').check()).toMatchObject({ content: '0 '.repeat(1_000) })
      await server.stop()
    }
    for (const death of chosen.slice(0, 3)) {
      begin(death)
      const bus = await startBus({ storage })
      const topic = await bus.join('bob', 'news')
      expect(await bus.read(topic)).toEqual(['one', 'two'])
      await bus.kill('SIGKILL')
    }
  },
  120_000,
)

verifies(
  'serve.store.checkpoint',
  'servers that are killed while their log grows by megabytes lose nothing they acknowledged',
  async () => {
    const storage = await temporaryFolder()
    const told = new Set<string>()
    // Whether a kill meets a checkpoint is chance: the steps of one are tried above.
    for (let round = 0; round < 4; round++) {
      const parley = await startParley({ storage })
      const before = told.size
      const enough = Promise.withResolvers<void>()
      const lanes = Array.from({ length: 8 }, async (_, lane) => {
        for (let n = 0; ; n++) {
          const id = `${round}/${lane}/${n}`
          const stored = await mailbox(parley, 'ann')
            .send('bob', 'x'.repeat(20_000), id)
            .catch(() => undefined)
          if (stored === undefined) return
          told.add(id)
          if (told.size - before > 300 + 37 * round) enough.resolve()
        }
      })
      await enough.promise
      await parley.end('SIGKILL')
      await Promise.all(lanes)
    }
    const server = await serveHere({ storage })
    for (let mail = await mailbox(server, 'bob').check(); mail !== null; mail = await mailbox(server, 'bob').check())
      told.delete(mail.id)
    expect([...told]).toEqual([])
  },
  120_000,
)
