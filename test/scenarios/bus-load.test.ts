/** Eight processes on one file, all at once: one topic of a name, one order of messages, nobody told to come back later. */
import { expect } from 'vitest'
import { look, type Message, startBus } from '../support/bus.ts'
import { eras, share, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const processes = 8
const sends = 100
const total = processes * sends

const eight = share(async (later) => {
  const storage = await temporaryFolder(later)
  const start = (_: unknown, n: number) => startBus({ storage, era: eras[n % 2 === 0 ? 0 : 1], later })
  return { storage, peers: await Promise.all(Array.from({ length: processes }, start)) }
})

verifies(
  'bus.topic.once',
  'Eight processes that start at once on no file and create the same names at once share one topic a name',
  async () => {
    const { peers } = eight()
    for (const names of [['Plan', 'plan', ' PLAN '], ['second'], ['third']]) {
      const made = await Promise.all(
        peers.map((peer, n) => peer.call<{ topic_id: string }>('topic_create', { name: names[n % names.length] })),
      )
      expect(new Set(made.map(({ topic_id }) => topic_id)).size, names[0]).toBe(1)
    }
    expect(await peers[0]?.call('topic_list')).toMatchObject({ count: 3 })
  },
  60_000,
)

verifies(
  ['bus.processes.load', 'bus.message.seq', 'bus.sync.order'],
  'Eight processes with a hundred sends each at once: seq 1 to 800, and everybody gets all of the others’ once, in order',
  async () => {
    const { storage, peers } = eight()
    const topics = await Promise.all(peers.map((peer, n) => peer.join(`peer-${n}`, 'busy')))
    const topic = topics[0] ?? ''
    const sent: Message[] = []
    const received = await Promise.all(
      peers.map(async (peer, n) => {
        const mine: Message[] = []
        const take = async (args: Record<string, unknown>) => {
          const answer = await peer.sync(topic, { max_items: 200, ...args })
          mine.push(...answer.received)
          return answer
        }
        // Every call sends and receives. None of them may fail, for whatever reason.
        const answers = await Promise.all(
          Array.from({ length: sends }, (_, i) => take({ outbox: [{ content_markdown: `${n}/${i}` }] })),
        )
        sent.push(...answers.flatMap((answer) => answer.sent.map(({ message }) => message)))
        while (mine.length < total - sends) await take({ wait_seconds: 20 })
        expect(await take({})).toMatchObject({ status: 'empty' })
        return mine
      }),
    )
    expect(sent.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(Array.from({ length: total }, (_, i) => i + 1))
    const stored = sent.toSorted((a, b) => a.seq - b.seq)
    for (const [n, mine] of received.entries())
      expect(mine, `peer-${n}`).toEqual(stored.filter(({ sender }) => sender !== `peer-${n}`))
    // Each sender's messages stand in the order in which it sent them.
    for (let n = 0; n < processes; n++)
      expect(
        stored.filter(({ sender }) => sender === `peer-${n}`).map(({ content_markdown }) => content_markdown),
      ).toEqual(Array.from({ length: sends }, (_, i) => `${n}/${i}`))
    expect(look(storage, 'SELECT next_seq FROM threads WHERE uid = ?', topic)).toEqual([{ next_seq: total + 1 }])
  },
  120_000,
)
