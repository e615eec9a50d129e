/** `kill -9` of bus processes: what they were doing is done or not done, and their peers go on where they were. */
import { expect } from 'vitest'
import { type BusProcess, httpPeer, look, startBus } from '../support/bus.ts'
import { serveHere, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const group = 7

verifies(
  ['bus.processes.killed', 'bus.message.seq', 'bus.outbox.duplicate'],
  'A sender that is killed again and again in the middle of its sends loses nothing, doubles nothing, halves nothing',
  async () => {
    const storage = await temporaryFolder()
    const reader = httpPeer(await serveHere({ storage }), '?agent=reader')
    const topic = await reader.join('reader', 'killed')
    const acknowledged: number[] = []
    let next = 0
    /** After a crash: what was stored is known, whatever words it comes with. */
    const retry = async (sender: BusProcess) => {
      const last = acknowledged.at(-1)
      if (last === undefined) return
      const outbox = [{ content_markdown: 'other words', client_message_id: `${last}/0` }]
      expect((await sender.sync(topic, { outbox })).sent).toMatchObject([
        { duplicate: true, message: { content_markdown: `${last}/0` } },
      ])
    }
    for (let round = 0; round < 5; round++) {
      const sender = await startBus({ storage })
      await sender.join('sender', 'killed')
      await retry(sender)
      const enough = Promise.withResolvers<void>()
      const lanes = Array.from({ length: 4 }, async () => {
        for (;;) {
          const id = next++
          const outbox = Array.from({ length: group }, (_, part) => ({
            content_markdown: `${id}/${part}`,
            client_message_id: `${id}/${part}`,
          }))
          // The last ones break off: whether they are stored, nobody can say.
          const stored = await sender.sync(topic, { outbox }).catch(() => undefined)
          if (stored === undefined) return
          acknowledged.push(id)
          if (acknowledged.length >= (round + 1) * 20) enough.resolve()
        }
      })
      await enough.promise
      await sender.kill('SIGKILL')
      await Promise.all(lanes)
    }

    const rows = look<{ seq: number; client_id: string }>(storage, 'SELECT seq, client_id FROM messages ORDER BY seq')
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, i) => i + 1))
    // Whole outboxes only, each in its order and in one piece.
    const heads = rows.filter((_, i) => i % group === 0).map(({ client_id }) => client_id.split('/')[0] ?? '')
    expect(rows.map(({ client_id }) => client_id)).toEqual(
      heads.flatMap((head) => Array.from({ length: group }, (_, part) => `${head}/${part}`)),
    )
    expect(new Set(heads).size).toBe(heads.length)
    expect(acknowledged.filter((id) => !heads.includes(String(id)))).toEqual([])
    expect(await reader.read(topic)).toEqual(rows.map(({ client_id }) => client_id))
  },
  120_000,
)

verifies(
  ['bus.cursor.durable', 'bus.sync.manual', 'bus.name.gone'],
  'A reader that is killed while it reads goes on after what it acknowledged, and misses nothing',
  async () => {
    const storage = await temporaryFolder()
    const sender = httpPeer(await serveHere({ storage }), '?agent=sender')
    const topic = await sender.join('sender', 'reading')
    const total = 400
    const sending = (async () => {
      for (let n = 1; n <= total; n += 4) await sender.send(topic, ...[n, n + 1, n + 2, n + 3].map(String))
    })()
    const handled: string[] = []
    let acked = 0
    for (let round = 0; acked < total; round++) {
      const reader = await startBus({ storage })
      await reader.join('reader', 'reading')
      const target = Math.min(total, (round + 1) * 100)
      // Messages handled but not acknowledged before the death come again; a reader drops those that it knows.
      while (acked < target) {
        const { received, cursor } = await reader.sync(topic, {
          wait_seconds: 20,
          max_items: 10,
          auto_advance: false,
          ack_through: acked,
        })
        expect(cursor.last_seq).toBe(acked)
        expect(received[0]?.seq).toBe(acked + 1)
        handled.push(...received.map(({ content_markdown }) => content_markdown))
        acked = received.at(-1)?.seq ?? acked
      }
      const dying = reader
        .sync(topic, { auto_advance: false, ack_through: acked, wait_seconds: 20 })
        .catch(() => 'gone')
      await expect
        .poll(() =>
          look(
            storage,
            'SELECT c.last_seq FROM cursors c JOIN agents a ON a.id = c.agent_id WHERE a.name = ?',
            'reader',
          ),
        )
        .toEqual([{ last_seq: acked }])
      await reader.kill('SIGKILL')
      await dying
    }
    await sending
    expect(handled).toEqual(Array.from({ length: total }, (_, n) => String(n + 1)))
  },
  120_000,
)
