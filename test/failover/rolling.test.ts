/** Two nodes behind nginx on one PostgreSQL: replaced by this version, then restarted in turn, under clients that must not notice. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signShared } from '../support/authority.ts'
import { inSession, subscribe } from '../support/events.ts'
import { type Later, mailbox, type Parley, startParley, temporaryFolder } from '../support/parley.ts'
import { startPostgres } from '../support/postgres.ts'
import { certificate, isInstalled, startProxy } from '../support/proxies.ts'
import { freePort } from '../support/redis-server.ts'
import { openSession } from '../support/wire.ts'
import { isBusy, openCrowd } from './crowd.ts'

const clients = 64
/** Of them, clients that also follow their threads. */
const subscribers = 16
const rounds = 3
const secret = 'a secret for the tokens of this test alone'

/** The folder of another checkout, or of an installed package: the version before. Without it this build stands in for it. */
const { PARLEY_BEFORE } = process.env

const before = getCACertificates('default')
beforeAll(async () => setDefaultCACertificates([...before, await readFile(certificate, 'utf8')]))
afterAll(() => setDefaultCACertificates(before))

/** Errors that a client may repeat a call after. nginx answers in HTML, which is no JSON. */
function fault(error: unknown): string | undefined {
  if (isBusy(error)) return 'DB_BUSY'
  const { message } = error as Error
  if (error instanceof SyntaxError) return 'nginx has no node'
  if (error instanceof TypeError) return 'connection lost'
  return /^50[234]: /.test(message) ? message : undefined
}

/** The GET stream of a session, opened again where it ends, from the last event on. */
function follow(url: string, headers: Record<string, string>) {
  const over = new AbortController()
  let [told, streams] = [0, 0]
  let last: string | undefined
  const reading = (async () => {
    while (!over.signal.aborted)
      try {
        const place = last === undefined ? {} : { 'last-event-id': last }
        const stream = await fetch(url, {
          headers: { ...headers, ...place, accept: 'text/event-stream', 'mcp-protocol-version': '2025-11-25' },
          signal: over.signal,
        })
        expect([200, 502, 503]).toContain(stream.status)
        if (stream.status === 200) streams++
        let rest = ''
        for await (const text of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
          const parts = (rest + text).split('\n\n')
          rest = parts.pop() ?? ''
          for (const part of parts) {
            last = /^id: ?(.*)$/m.exec(part)?.[1] ?? last
            if (part.includes('notifications/resources/updated')) told++
          }
        }
      } catch (error) {
        if (over.signal.aborted) return
        if (!(error instanceof TypeError)) throw error
        await sleep(20)
      }
  })()
  reading.catch(() => {})
  return {
    told: () => told,
    streams: () => streams,
    async end() {
      over.abort()
      await reading
    },
  }
}

const missing = ['nginx'].filter(() => !isInstalled('nginx'))
if (missing.length > 0) process.stderr.write('skipped: nginx is not on this machine (apt-get install nginx)\n')

test.skipIf(missing.length > 0)(
  'two nodes are replaced, and restarted in turn: no acknowledged message is lost or comes twice',
  async () => {
    const ends: (() => Promise<unknown>)[] = []
    const later: Later = (end) => ends.push(end)
    try {
      const postgres = await startPostgres({ durable: true })
      later(() => postgres.stop())
      const ports = [await freePort(), await freePort()]
      const storage = await temporaryFolder(later)
      const start = (port: number, launcher?: string): Promise<Parley> =>
        startParley({
          storage,
          later,
          ...(launcher !== undefined && { launcher }),
          env: {
            DATABASE_URL: postgres.url,
            HTTP_PORT: String(port),
            HTTP_JWT_ENABLED: 'true',
            HTTP_JWT_SECRET: secret,
            SECRET_KEY: 'one key for both of the nodes',
            DRAIN_SECONDS: '2',
            MAILBOX_MAX_DEPTH: '100000',
          },
        })
      const old = PARLEY_BEFORE === undefined ? undefined : join(PARLEY_BEFORE, 'bin', 'parley.js')
      const nodes: Parley[] = []
      for (const port of ports) nodes.push(await start(port, old))
      const { url, errors: proxyErrors } = await startProxy('nginx', ports, later)

      const exp = Math.floor(Date.now() / 1000) + 3600
      const headers = await Promise.all(
        Array.from({ length: clients }, async (_, n) => ({
          Authorization: `Bearer ${await signShared(secret, { agent: `client-${n}`, role: 'writer', exp })}`,
        })),
      )
      const crowd = openCrowd({
        clients,
        at: (n) => mailbox({ url }, `client-${n}`, { headers: headers[n] ?? {} }),
        fault,
        waitSeconds: 20,
        restMs: 250,
      })
      await crowd.goOn()
      const followers = await Promise.all(
        Array.from({ length: subscribers }, async (_, n) => {
          const own = headers[n] ?? {}
          const session = await openSession(`${url}/hub/mcp`, own)
          const uri = `apm2://agents/client-${n}`
          expect((await subscribe(`${url}/hub/mcp`, session, uri, own)).error).toBeUndefined()
          return { n, session, ...follow(`${url}/hub/mcp`, { ...own, 'mcp-session-id': session }) }
        }),
      )
      later(() => Promise.all(followers.map((one) => one.end())))
      const goOn = async () => {
        const told = followers.map((one) => one.told())
        await crowd.goOn()
        await expect
          .poll(() => followers.every((one, n) => one.told() > (told[n] ?? 0)), { timeout: 30_000 })
          .toBe(true)
      }
      await goOn()
      crowd.longest()
      await sleep(5_000)
      process.stderr.write(`undisturbed: longest pause of a client ${Math.round(crowd.longest())} ms\n`)

      const replace = async (n: number, name: string) => {
        const errors = crowd.repeated.length
        crowd.longest()
        expect(await nodes[n]?.end()).toBe(0)
        const [stopped, from] = [crowd.longest(), performance.now()]
        nodes[n] = await start(ports[n] ?? 0)
        const startMs = performance.now() - from
        // nginx turns to it within a second.
        await sleep(1_500)
        await goOn()
        const pauses = `longest pause of a client ${Math.round(stopped)} ms while it stopped, ${Math.round(crowd.longest())} ms while it started`
        // The version before ends as it does; of this one no client has to know.
        if (name === 'restarted') expect(crowd.repeated.slice(errors), await proxyErrors()).toEqual([])
        process.stderr.write(
          `node ${n + 1} ${name}: ${pauses} (${Math.round(startMs)} ms); ${crowd.repeated.length - errors} calls repeated\n`,
        )
      }
      for (const n of nodes.keys()) await replace(n, 'replaced by this version')
      for (let round = 0; round < rounds; round++) for (const n of nodes.keys()) await replace(n, 'restarted')

      for (const { n, session } of followers) {
        const answer = await inSession(`${url}/hub/mcp`, session, 'ping', {}, headers[n])
        expect([answer.status, answer.error]).toEqual([200, undefined])
      }
      const messages = await crowd.finish()
      const kinds = Object.entries(Object.groupBy(crowd.repeated, (kind) => kind))
      const repeated = kinds.map(([kind, all = []]) => `${all.length} × ${kind}`).join(', ')
      process.stderr.write(
        `${messages} messages of ${clients} clients, each once and in order; calls repeated: ${repeated || 'none'}; ` +
          `${followers.reduce((sum, one) => sum + one.streams(), 0)} streams for ${subscribers} subscribers\n`,
      )
    } finally {
      for (const end of ends.reverse()) await end()
    }
  },
  300_000,
)
