/** The mailbox against a model of it: any sequence of sends, retries, pops, loans, acknowledgements, time and crashes. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { HubError } from '../../src/base/errors.ts'
import type { Hub } from '../../src/core/hub/hub.ts'
import { acknowledge, take } from '../../src/core/mail/take.ts'
import { send } from '../../src/core/messages/send.ts'
import { TestClock } from '../support/clock.ts'
import { codePoints } from '../support/code-points.ts'
import { eachEngine } from '../support/engines.ts'
import { as, now, openTestHub } from '../support/hub.ts'
import { verifies } from '../support/verifies.ts'

const agents = ['alice', 'bob', 'Carol'] as const
const depth = 6

interface Message {
  clientId: string
  /** The id that it was sent under. */
  under: string | undefined
  from: string
  to: string
  content: string
  /** Unread and free, lent to the holder of a loan, or read. */
  state: { is: 'free' } | { is: 'lent'; loan: string; until: number } | { is: 'read'; loan?: string }
}

interface Model {
  messages: Message[]
  time: number
  /** Every loan that was ever given, with its message. */
  loans: { loan: string; message: Message }[]
}

/** The real system of the model: a hub that can be thrown away and opened anew on the same database. */
interface Real {
  hub: Hub
  clock: TestClock
  crash(): Promise<void>
}

type Command = fc.AsyncCommand<Model, Real>

const unread = (model: Model, to: string) =>
  model.messages.filter((message) => message.to === to && message.state.is !== 'read')
const free = (model: Model, to: string) =>
  unread(model, to).find(({ state }) => state.is === 'free' || (state.is === 'lent' && state.until <= model.time))

const command = (text: string, run: Command['run']): Command => ({ check: () => true, run, toString: () => text })

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof HubError ? error.code : Promise.reject(error)),
  )

const sending = fc
  .record({
    from: fc.constantFrom(...agents),
    to: fc.constantFrom(...agents),
    content: fc.oneof(
      fc.constantFrom('yes', 'no'),
      fc.string({ minLength: 1, maxLength: 8, unit: codePoints }).filter((text) => !text.includes('\0')),
    ),
    clientId: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }),
  })
  .map(({ from, to, content, clientId }) =>
    command(`send ${from}→${to} ${clientId ?? '-'}`, async (model, { hub }) => {
      const used = model.messages.filter(
        (message) => clientId !== undefined && message.from === from && message.to === to && message.under === clientId,
      )
      const known = used.find((message) => message.content === content)
      const work = send(hub, as(from), { to: [{ name: to }], body: content, clientId, mayAnswer: true })
      if (known === undefined && unread(model, to).length >= depth) {
        expect(await codeOf(work)).toBe('MAILBOX_FULL')
        return
      }
      const sent = await work
      expect(sent.duplicate).toBe(known !== undefined)
      if (known !== undefined) expect(sent.clientId).toBe(known.clientId)
      else model.messages.push({ clientId: sent.clientId, under: clientId, from, to, content, state: { is: 'free' } })
    }),
  )

const taking = fc
  .record({
    who: fc.constantFrom(...agents),
    loanMs: fc.constantFrom(0, 0, 1000, 5000),
    undo: fc.constantFrom(false, false, false, true),
  })
  .map(({ who, loanMs, undo }) =>
    command(`take ${who} loan=${loanMs}${undo ? ' undone' : ''}`, async (model, { hub }) => {
      const expected = free(model, who)
      const taken = await take(hub, as(who), { ...now, loanMs })
      expect(
        taken && { clientId: taken.mail.clientId, from: taken.mail.from, to: who, content: taken.mail.body },
      ).toEqual(
        expected && { clientId: expected.clientId, from: expected.from, to: expected.to, content: expected.content },
      )
      if (expected === undefined || taken === undefined) return
      const { loan } = taken.mail
      expect(loan !== undefined).toBe(loanMs > 0)
      if (undo) {
        await taken.putBack()
        expected.state = { is: 'free' }
      } else if (loan !== undefined) {
        expected.state = { is: 'lent', loan, until: model.time + loanMs }
        model.loans.push({ loan, message: expected })
      } else expected.state = { is: 'read' }
    }),
  )

const acknowledging = fc.nat().map((pick) =>
  command(`acknowledge #${pick}`, async (model, { hub }) => {
    const given = model.loans[pick % Math.max(1, model.loans.length)]
    if (given === undefined) return
    const { loan, message } = given
    const { state } = message
    const current = state.is !== 'free' && state.loan === loan
    expect(await codeOf(acknowledge(hub, as(message.to), { clientId: message.clientId, loan }))).toBe(
      current ? 'ok' : 'LEASE_EXPIRED',
    )
    if (current) message.state = { is: 'read', loan }
  }),
)

const passing = fc.constantFrom(1, 999, 1000, 5000).map((ms) =>
  command(`${ms} ms pass`, async (model, { clock }) => {
    clock.advance(ms)
    model.time += ms
  }),
)

const crashing = fc.constant(command('crash', (_model, real) => real.crash()))

eachEngine('A mailbox', (open, dialect) => {
  verifies(
    ['mailbox.pop.fifo', 'mailbox.send.idempotent', 'mailbox.lease.returns', 'mailbox.depth.refused'],
    'does what its model does, whatever happens in whatever order',
    async () => {
      const commands = fc.commands(
        [sending, sending, sending, taking, taking, taking, acknowledging, acknowledging, passing, crashing],
        { maxCommands: 60 },
      )
      await fc.assert(
        fc.asyncProperty(commands, async (steps) => {
          const database = await open()
          const clock = new TestClock()
          const opened: Hub[] = []
          const openNext = async () => {
            const hub = await openTestHub(await database.connect(), { clock, mailboxDepth: depth })
            opened.push(hub)
            return hub
          }
          const real: Real = {
            clock,
            hub: await openNext(),
            // Whatever the old one had in memory is lost; it is not asked to finish anything.
            async crash() {
              this.hub = await openNext()
            },
          }
          try {
            await fc.asyncModelRun(() => ({ model: { messages: [], time: clock.now(), loans: [] }, real }), steps)
          } finally {
            for (const hub of opened) await hub.close()
          }
        }),
        // The model is the same; a run takes 10 ms on SQLite and 100 ms on PostgreSQL.
        { numRuns: dialect === 'sqlite' ? 90 : 30 },
      )
    },
    120_000,
  )
})
