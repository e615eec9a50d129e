/** Topics against a model of them: any sequence of syncs, retries, acknowledgements, lost answers, resets, closes and crashes. */

import fc from 'fast-check'
import { expect } from 'vitest'
import { commons } from '../../src/base/names.ts'
import { local } from '../../src/core/access/callers.ts'
import type { Hub } from '../../src/core/hub/hub.ts'
import { resetCursor } from '../../src/core/topics/members.ts'
import { type Synced, sync } from '../../src/core/topics/sync.ts'
import { closeTopic, reopenTopic } from '../../src/core/topics/topics.ts'
import { TestClock } from '../support/clock.ts'
import { eachEngine } from '../support/engines.ts'
import { openTestHub } from '../support/hub.ts'
import { codeOf, enter, outgoing, plain, session } from '../support/topics.ts'
import { verifies } from '../support/verifies.ts'

const agents = ['alice', 'Bob', 'carol'] as const
type Name = (typeof agents)[number]

interface Entry {
  seq: number
  sender: Name
  body: string
  clientId: string | undefined
}

interface Model {
  log: Entry[]
  closed: boolean
  cursors: Record<Name, number>
  /** Up to where each said itself that it has read: no lost answer takes that back. */
  floors: Record<Name, number>
  /** Answers that may yet turn out to be lost, with how far they moved whose cursor. */
  answers: { undo: () => Promise<void>; who: Name; from: number; to: number }[]
}

/** The real system of the model: two connections, each of which can be thrown away and opened anew. */
interface Real {
  hubs: Hub[]
  uid: string
  crash(which: number): Promise<void>
}

type Command = fc.AsyncCommand<Model, Real>

const command = (text: string, run: Command['run']): Command => ({ check: () => true, run, toString: () => text })

const who = fc.constantFrom(...agents)
const at = fc.nat({ max: 1 })

/** The expected result of a sync, or the code it is refused with; a refusal leaves the model as it was. */
function expected(model: Model, name: Name, asked: Asked) {
  const log = [...model.log]
  const sent: { entry: Entry; duplicate: boolean }[] = []
  for (const { body, clientId } of asked.outbox) {
    const known = log.find((entry) => entry.sender === name && entry.clientId === clientId && clientId !== undefined)
    if (known === undefined && model.closed) return 'TOPIC_CLOSED'
    const entry = known ?? { seq: log.length + 1, sender: name, body, clientId }
    if (known === undefined) log.push(entry)
    sent.push({ entry, duplicate: known !== undefined })
  }
  const ack = asked.ack === undefined ? undefined : Math.floor(asked.ack * (model.log.length + 3))
  if ((ack ?? 0) > log.length) return 'INVALID_ARGUMENT'
  const start = Math.max(model.cursors[name], ack ?? 0)
  const unread = log.filter(({ seq, sender }) => seq > start && (asked.includeSelf || sender !== name))
  const received = unread.slice(0, asked.maxItems)
  const last = asked.autoAdvance ? (received.at(-1)?.seq ?? start) : start
  model.log = log
  model.cursors[name] = last
  if (ack !== undefined) model.floors[name] = start
  return { ack, start, last, sent, received, hasMore: unread.length > received.length }
}

interface Asked {
  outbox: { body: string; clientId: string | undefined }[]
  maxItems: number
  includeSelf: boolean
  autoAdvance: boolean
  /** As a share of a bit more than there is; only without autoAdvance. */
  ack: number | undefined
}

const asking: fc.Arbitrary<Asked> = fc
  .record({
    outbox: fc.array(
      fc.record({
        body: fc.string({ minLength: 1, maxLength: 6, unit: 'grapheme' }).filter((text) => !text.includes('\0')),
        clientId: fc.option(fc.constantFrom('x', 'y', 'z'), { nil: undefined }),
      }),
      { maxLength: 3 },
    ),
    maxItems: fc.constantFrom(1, 2, 5, 200),
    includeSelf: fc.boolean(),
    autoAdvance: fc.constantFrom(true, true, false),
    ack: fc.option(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { nil: undefined }),
  })
  .map((asked) => ({ ...asked, ack: asked.autoAdvance ? undefined : asked.ack }))

const syncing = fc.record({ name: who, asked: asking, hub: at }).map(({ name, asked, hub }) =>
  command(`sync ${name} ${JSON.stringify(asked)} at ${hub}`, async (model, { hubs, uid }) => {
    const { outbox, ack: share, ...rest } = asked
    const before = model.log.length
    const should = expected(model, name, asked)
    const request = {
      ...plain,
      ...rest,
      outbox: outbox.map(({ body, clientId }) => outgoing(body, clientId)),
      ackThrough: share === undefined ? undefined : Math.floor(share * (before + 3)),
    }
    const work = sync(hubs[hub] as Hub, session(name), uid, request)
    if (typeof should === 'string') {
      expect(await codeOf(work)).toBe(should)
      return
    }
    const did = await work
    expect(seen(did)).toEqual({
      name,
      status: model.closed ? 'closed' : 'open',
      last: should.last,
      hasMore: should.hasMore,
      sent: should.sent.map(({ entry, duplicate }) => ({ ...entry, duplicate })),
      received: should.received,
    })
    model.answers.push({ undo: did.undo, who: name, from: should.last, to: should.start })
  }),
)

const seen = ({ name, topic, cursor, hasMore, sent, received }: Synced) => {
  const entry = ({ seq, sender, body, clientId }: Synced['received'][number]) => ({ seq, sender, body, clientId })
  return {
    name,
    status: topic.status,
    last: cursor.lastSeq,
    hasMore,
    sent: sent.map(({ message, duplicate }) => ({ ...entry(message), duplicate })),
    received: received.map(entry),
  }
}

/** Often the last answer, now and then an old one. */
const losing = fc.record({ back: fc.constantFrom(0, 0, 1, 2, 5) }).map(({ back }) =>
  command(`lose answer -${back}`, async (model) => {
    const answer = model.answers.at(-1 - back)
    if (answer === undefined) return
    await answer.undo()
    const { who, from, to } = answer
    // Also if it has read on since: twice is better than never.
    if (from !== to && model.cursors[who] >= from && model.cursors[who] > model.floors[who])
      model.cursors[who] = Math.max(model.floors[who], to)
  }),
)

const resetting = fc
  .record({ name: who, share: fc.double({ min: 0, max: 1, noNaN: true }), hub: at })
  .map(({ name, share, hub }) =>
    command(`reset ${name} ${share} at ${hub}`, async (model, { hubs, uid }) => {
      const target = Math.floor(share * (model.log.length + 1))
      const code = await codeOf(resetCursor(hubs[hub] as Hub, session(name), uid, target))
      expect(code).toBe(target > model.log.length ? 'INVALID_ARGUMENT' : 'ok')
      if (code === 'ok') model.cursors[name] = model.floors[name] = target
    }),
  )

const closing = fc.record({ hub: at, reopen: fc.boolean() }).map(({ hub, reopen }) =>
  command(`${reopen ? 'reopen' : 'close'} at ${hub}`, async (model, { hubs, uid }) => {
    const topicHub = hubs[hub] as Hub
    const done = reopen ? reopenTopic(topicHub, local, commons, uid) : closeTopic(topicHub, local, commons, { uid })
    expect((await done).already).toBe(model.closed !== reopen)
    model.closed = !reopen
  }),
)

const crashing = at.map((hub) =>
  command(`crash ${hub}`, async (model, real) => {
    await real.crash(hub)
    // The process that would have taken the lost answers back is gone.
    model.answers = []
  }),
)

eachEngine('A topic', (open, dialect) => {
  verifies(
    [
      'bus.sync.order',
      'bus.sync.atomic',
      'bus.outbox.duplicate',
      'bus.ack.forward',
      'bus.message.seq',
      'all.engines.alike',
    ],
    'does what its model does, whatever happens in whatever order',
    async () => {
      const commands = fc.commands(
        [syncing, syncing, syncing, syncing, syncing, syncing, losing, resetting, closing, crashing],
        // By default they are short, and what comes late never happens.
        { maxCommands: 60, size: 'max' },
      )
      await fc.assert(
        fc.asyncProperty(commands, async (steps) => {
          const database = await open()
          const clock = new TestClock()
          const opened: Hub[] = []
          const openNext = async () => {
            const hub = await openTestHub(await database.connect(), { clock })
            opened.push(hub)
            return hub
          }
          const real: Real = {
            hubs: [await openNext(), await openNext()],
            uid: '',
            async crash(which) {
              this.hubs[which] = await openNext()
            },
          }
          const none = () => ({ alice: 0, Bob: 0, carol: 0 })
          const model = (): Model => ({ log: [], closed: false, cursors: none(), floors: none(), answers: [] })
          try {
            real.uid = await enter(real.hubs[0] as Hub, 'model', ...agents)
            await fc.asyncModelRun(() => ({ model: model(), real }), steps)
          } finally {
            for (const hub of opened) await hub.close()
          }
        }),
        // The model is the same; a run takes 35 ms on SQLite and 250 ms on PostgreSQL.
        { numRuns: dialect === 'sqlite' ? 40 : 12 },
      )
    },
    120_000,
  )
})
