/** Two servers and four bus processes on one folder, killed at random under load: all that was acknowledged is there, once. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { httpPeer, look, startBus } from '../support/bus.ts'
import { type InboxAnswer, plainMail } from '../support/mail.ts'
import { type Later, mailbox, serveHere, startParley, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

/** Another one tells another story: CHAOS_SEED=7 npm test -- test/scenarios/chaos.test.ts */
const seed = Number(process.env.CHAOS_SEED ?? 1)
const kills = 6

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function chance(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let n = Math.imul(state ^ (state >>> 15), 1 | state)
    n = (n + Math.imul(n ^ (n >>> 7), 61 | n)) ^ n
    return ((n ^ (n >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A process with the one thing it does all the time: it writes a message under this id. */
interface Seat {
  write(id: string): Promise<unknown>
  kill(): Promise<unknown>
}

async function takeServerSeat(name: string, storage: string, later: Later): Promise<Seat> {
  const parley = await startParley({ storage, later, env: { MAILBOX_MAX_DEPTH: '1000000' } })
  const me = mailbox(parley, name)
  return { write: (id) => me.send('target', id, id), kill: () => parley.end('SIGKILL') }
}

async function takeBusSeat(name: string, storage: string, later: Later): Promise<Seat> {
  const bus = await startBus({ storage, later })
  const topic = await bus.join(name, 'chaos')
  const outboxOf = (id: string) => [{ content_markdown: id, client_message_id: id }]
  return {
    write: (id) => bus.sync(topic, { outbox: outboxOf(id), max_items: 1 }),
    kill: () => bus.kill('SIGKILL'),
  }
}

verifies(
  'serve.store.chaos',
  `Of ${kills} kills in the middle of the work, none loses or doubles anything (seed ${seed})`,
  async () => {
    const random = chance(seed)
    const storage = await temporaryFolder()
    const ends: (() => Promise<unknown>)[] = []
    const later: Later = (work) => ends.push(work)
    let running = true
    const seats = await Promise.all(
      Array.from({ length: 6 }, async (_, n) => {
        const name = `${n < 2 ? 'server' : 'bus'}-${n}`
        const take = () => (n < 2 ? takeServerSeat : takeBusSeat)(name, storage, later)
        return { name, take, taken: await take(), acknowledged: [] as string[], killing: undefined as unknown }
      }),
    )
    // A client killed in the middle of a write repeats it under the same id: it is stored once.
    const writing = seats.map(async (seat) => {
      for (let n = 0; running; ) {
        const id = `${seat.name}/${n}`
        const stored = await seat.taken.write(id).catch(() => undefined)
        if (stored !== undefined) seat.acknowledged[n++] = id
        else await seat.killing
        await sleep(20)
      }
    })
    /** Until each has written some more. */
    const goOn = async (goals = seats.map((seat) => seat.acknowledged.length + 3)) => {
      const behind = () => seats.filter((seat, n) => seat.acknowledged.length < (goals[n] ?? 0)).length
      await expect.poll(behind, { timeout: 30_000 }).toBe(0)
    }
    await goOn()
    for (let n = 0; n < kills; n++) {
      await sleep(50 + random() * 300)
      const alive = seats.filter(({ killing }) => killing === undefined)
      const seat = alive[Math.floor(random() * alive.length)] as (typeof seats)[number]
      seat.killing = (async () => {
        await seat.taken.kill()
        seat.taken = await seat.take()
        seat.killing = undefined
      })()
    }
    await Promise.all(seats.map(({ killing }) => killing))
    await goOn()
    running = false
    await Promise.all(writing)
    for (const end of ends.reverse()) await end()

    const acknowledged = seats.flatMap((seat) => seat.acknowledged)
    const sent = acknowledged.filter((id) => id.startsWith('server'))
    const said = acknowledged.filter((id) => id.startsWith('bus'))

    const parley = await serveHere({ storage })
    const received: string[] = []
    for (let after_id: number | undefined = 0; after_id !== undefined; ) {
      const asked = { project_key: 'commons', agent_name: 'target', after_id, limit: 100, include_bodies: true }
      const page: InboxAnswer = await plainMail(parley).callWhole('fetch_inbox', asked)
      received.push(...page.result.toReversed().map(({ body_md = '' }) => body_md))
      after_id = page.next_after
    }
    expect(received.toSorted()).toEqual(sent.toSorted())
    for (const name of ['server-0', 'server-1']) {
      const own = received.filter((id) => id.startsWith(`${name}/`))
      expect(own).toEqual(sent.filter((id) => id.startsWith(`${name}/`)))
    }
    const reader = httpPeer(parley, '?agent=reader')
    const topic = await reader.join('reader', 'chaos')
    expect((await reader.read(topic)).toSorted()).toEqual(said.toSorted())
    const order = look<{ seq: number }>(
      storage,
      `SELECT seq FROM messages WHERE thread_id = (SELECT id FROM threads WHERE uid = '${topic}') ORDER BY seq`,
    )
    expect(order.map(({ seq }) => seq)).toEqual(said.map((_, n) => n + 1))
    expect(look(storage, "SELECT unread FROM agents WHERE name = 'target'")).toEqual([{ unread: sent.length }])
    expect(look(storage, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
  },
  120_000,
)
