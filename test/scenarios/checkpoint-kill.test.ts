/** Servers and bus processes that start on what a death inside of a checkpoint left, and servers killed while their log grows. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { pino } from 'pino'
import { expect } from 'vitest'
import { runBus } from '../../src/app/bus.ts'
import { openDatabase, openOn } from '../../src/app/open.ts'
import { take } from '../../src/core/mail/take.ts'
import { sync } from '../../src/core/topics/sync.ts'
import { loadConfig } from '../../src/settings/read.ts'
import { startBus } from '../support/bus.ts'
import { type Death, deaths, imageOf, leaveDead, pagesOf } from '../support/checkpoints.ts'
import { parleyCommand } from '../support/cli.ts'
import { as, now } from '../support/hub.ts'
import { bareEnv, mailbox, serveHere, share, startParley, temporaryFolder } from '../support/parley.ts'
import { allRows } from '../support/stored-rows.ts'
import { enter, plain, session } from '../support/topics.ts'
import { verifies } from '../support/verifies.ts'

const first = '0 '.repeat(1_000)

/** Mail in the log of a store, as of a moment when nobody wrote. */
const logged = share(async (later) => {
  const server = await serveHere({ later })
  for (let n = 0; n < 60; n++) await mailbox(server, 'ann').send('bob', `${n} `.repeat(1_000))
  const bus = await startBus({ storage: server.storage, later })
  const topic = await bus.join('ann', 'news')
  await bus.send(topic, 'one', 'two')
  return { topic, image: imageOf(join(server.storage, 'parley.sqlite3')) }
})

const times = 200

/** A store that is laid out as it was left by one death after the other. */
async function graveyard() {
  const { topic, image } = logged()
  const storage = await temporaryFolder()
  const file = join(storage, 'parley.sqlite3')
  return {
    storage,
    topic,
    pages: pagesOf(image).length,
    all: deaths(image, times),
    /** The number goes too: what the round before has acknowledged is not in this image. */
    begin(death: Death) {
      leaveDead(file, image, death)
      rmSync(`${file}-acknowledged`, { force: true })
    },
  }
}

const config = (storage: string) => loadConfig(bareEnv(storage))
const log = pino({ level: 'silent' })

/** `parley bus` without a process: the same composition, on streams of its own. Answers what was asked, in order. */
async function busAnswers(storage: string, calls: readonly { name: string; arguments: object }[]): Promise<string> {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const running = runBus(config(storage), log, { stdin, stdout })
  const answers = createInterface(stdout)[Symbol.asyncIterator]()
  let last = ''
  for (const [id, params] of calls.entries()) {
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })}\n`)
    last = (await answers.next()).value ?? ''
  }
  stdin.end()
  await running
  return last
}

verifies(
  'serve.store.checkpoint',
  `servers and the bus open what each of ${times} deaths has left, and miss nothing`,
  async () => {
    const { storage, topic, all, begin } = await graveyard()
    for (const death of all) {
      begin(death)
      // As both do: their doors, which have no part in this, would take ten times as long.
      const hub = await openOn(await openDatabase(config(storage)), config(storage), log)
      const taken = await take(hub, as('bob'), now)
      expect(taken?.mail.body, JSON.stringify(death)).toBe(first)
      await enter(hub, 'news', 'bob')
      const { received } = await sync(hub, session('bob'), topic, plain)
      expect(
        received.map(({ body }) => body),
        JSON.stringify(death),
      ).toEqual(['one', 'two'])
      await hub.close()
    }
  },
  120_000,
)

verifies(
  'serve.store.checkpoint',
  'a server and the bus, whole, start on what every seventeenth of them has left',
  async () => {
    const { storage, topic, all, begin } = await graveyard()
    // Torn or not, with each of the indexes.
    for (const death of all.filter((_, n) => n % 17 === 0)) {
      begin(death)
      const server = await serveHere({ storage })
      expect(await mailbox(server, 'bob').check(), JSON.stringify(death)).toMatchObject({ content: first })
      await server.stop()
      begin(death)
      const read = await busAnswers(storage, [
        { name: 'topic_join', arguments: { agent_name: 'bob', name: 'news' } },
        { name: 'sync', arguments: { topic_id: topic, wait_seconds: 0 } },
      ])
      expect(read, JSON.stringify(death)).toMatch(/"received_count":2/)
    }
  },
  120_000,
)

verifies(
  'serve.store.checkpoint',
  'processes of servers and of the bus, and doctor, take what is left of it at every kind of step',
  async () => {
    const { storage, pages, all, begin } = await graveyard()
    // The header page half written, the first pages, the middle, the end; each with another index.
    const chosen = [1, 2, 3, pages, pages + 1, 2 * pages - 1, 2 * pages].flatMap((n) => all[n] ?? [])
    for (const death of chosen) {
      begin(death)
      const { stdout } = await parleyCommand({ storage }, ['doctor', '--json'], { env: { HTTP_PORT: '0' } })
      const { findings } = JSON.parse(stdout) as { findings: { check: string; status: string }[] }
      expect(findings.filter(({ check }) => check === 'database')).toMatchObject([{ status: 'ok' }])
    }
    for (const death of chosen.slice(0, 3)) {
      begin(death)
      const bus = await startBus({ storage })
      const topic = await bus.join('bob', 'news')
      expect(await bus.read(topic)).toEqual(['one', 'two'])
      await bus.kill('SIGKILL')
    }
    for (const death of chosen.slice(3, 5)) {
      begin(death)
      const server = await startParley({ storage })
      expect(await mailbox(server, 'bob').check()).toMatchObject({ content: first })
      await server.end('SIGKILL')
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
    expect(told).toContain((await mailbox(server, 'bob').check())?.id)
    await server.stop()
    const { messages = [] } = await allRows(`sqlite:${join(storage, 'parley.sqlite3')}`)
    const stored = new Set(messages.map(({ client_id }) => client_id))
    expect([...told].filter((id) => !stored.has(id))).toEqual([])
  },
  120_000,
)
