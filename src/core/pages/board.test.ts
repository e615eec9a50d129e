/** The board of agents and the list of what needs a person, on both engines. */
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { dbOf } from '../../../test/support/feed.ts'
import { registered } from '../../../test/support/hub.ts'
import { asked } from '../../../test/support/leases.ts'
import { back, front, openPages } from '../../../test/support/pages.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { operator, person } from '../access/callers.ts'
import { requestContact } from '../contact-requests/requests.ts'
import { setContactPolicy } from '../contacts/links.ts'
import { agentWaiter, beginWait } from '../hub/waits.ts'
import { reserve } from '../leases/leases.ts'
import { listInbox } from '../mail/inbox.ts'
import { markRead } from '../mail/receipts.ts'
import { addWaiter } from '../presence/presence.ts'
import { readBoard } from './board.ts'
import { remindAgent } from './decisions.ts'
import { countAttention } from './late-mail.ts'
import { readNeeds } from './needs.ts'

const minute = 60_000

eachEngine('The board', (open) => {
  verifies('web.board.states', 'who is stuck, who is blocked by whom, and who is there', async () => {
    const { hub, clock, write } = await openPages(open)
    const states = async (project?: string) =>
      Object.fromEntries((await readBoard(hub, operator, { project })).agents.map(({ name, state }) => [name, state]))
    await reserve(hub, registered('Ann', back), { ...asked, patterns: ['src/**'] })
    await write('Cleo', [{ name: 'Ann' }], { ackRequired: true })
    clock.advance(14 * minute)
    await reserve(hub, registered('Bob', back), { ...asked, patterns: ['src/a.ts'], onConflict: 'grant' })
    expect(await states(back)).toEqual({ Ann: 'idle', Bob: 'working', Cleo: 'idle' })
    clock.advance(20 * minute)
    await write('Bob', [{ name: 'Bob' }])
    const { agents } = await readBoard(hub, operator, { project: back })
    expect(agents.map(({ name, state }) => [name, state])).toEqual([
      ['Ann', 'stuck'],
      ['Bob', 'blocked'],
      ['Cleo', 'blocked'],
    ])
    const bob = { name: 'Bob' }
    expect(agents[0]).toMatchObject({
      leases: 1,
      unread: 1,
      holds: [
        { kind: 'lease', pattern: 'src/a.ts', other: bob },
        { kind: 'ack', other: { name: 'Cleo' } },
      ],
    })
    expect(agents[1]).toMatchObject({ blockedBy: [{ kind: 'lease', pattern: 'src/a.ts', other: { name: 'Ann' } }] })
    // Seen again, it is not stuck, and nobody is blocked by it.
    await write('Ann', [{ name: 'Ann' }])
    expect(await states(back)).toMatchObject({ Ann: 'working', Bob: 'working', Cleo: 'idle' })
    expect(Object.keys(await states())).toHaveLength(4)
    clock.advance(70 * minute)
    expect(await states(front)).toEqual({ Dora: 'away', Bob: 'away' })
    await hub.close()
  })

  verifies('web.board.states', 'who waits for the answer of a stuck one that took the mail is blocked', async () => {
    const { hub, clock, write } = await openPages(open)
    await reserve(hub, registered('Ann', back), { ...asked, patterns: ['src/**'] })
    await reserve(hub, registered('Bob', back), { ...asked, patterns: ['src/a.ts'], onConflict: 'grant' })
    const [one, two] = [await write('Cleo', [{ name: 'Ann' }]), await write('Cleo', [{ name: 'Ann' }])]
    for (const id of [one, two]) await markRead(hub, registered('Ann', back), id)
    clock.advance(20 * minute)
    const cleo = async () =>
      (await readBoard(hub, operator, { project: back })).agents.find(({ name }) => name === 'Cleo')
    expect(await cleo()).toMatchObject({ state: 'idle', blockedBy: [] })
    const leave = beginWait(hub, agentWaiter((await cleo())?.id ?? 0))
    expect(await cleo()).toMatchObject({ state: 'blocked', blockedBy: [{ kind: 'answer', other: { name: 'Ann' } }] })
    // An answer, in whatever thread.
    await write('Ann', [{ name: 'Cleo' }])
    clock.advance(20 * minute)
    expect(await cleo()).toMatchObject({ state: 'waiting', blockedBy: [] })
    leave()
    const told = async () => (await cleo())?.reach
    expect(await told()).toMatchObject({ state: 'away' })
    const gone = addWaiter(hub, {
      agentId: (await cleo())?.id ?? 0,
      session: 's',
      via: 'codex',
      since: clock.now(),
      displaced: () => {},
    })
    expect([await told(), (await cleo())?.state]).toMatchObject([{ state: 'wakeable', via: 'codex' }, 'idle'])
    gone()
    await hub.close()
  })

  verifies('web.needs.listed', 'answers, requests, conflicts as pairs, debts by agent, and the silent', async () => {
    const { hub, clock, write } = await openPages(open)
    expect(await readNeeds(hub, operator)).toMatchObject({ count: 0 })
    const long = { ...asked, ttlMs: 120 * minute }
    await reserve(hub, registered('Ann', back), { ...long, patterns: ['src/**'] })
    await reserve(hub, registered('Bob', back), { ...long, patterns: ['src/a.ts', 'src/b.ts'] })
    for (let n = 0; n < 2; n++) await write('Bob', [{ name: 'Ann' }], { ackRequired: true })
    await write('Dora', [{ name: 'Bob' }], {}, front)
    clock.advance(61 * minute)
    const answer = await write('Bob', [{ name: 'HumanOverseer' }], { subject: 'Which one?' })
    await setContactPolicy(hub, registered('Cleo', back), 'contacts_only')
    await requestContact(hub, registered('Dora', front), { to: { name: 'Cleo', project: back }, reason: 'API' })
    const needs = await readNeeds(hub, operator)
    expect(needs.more).toBe(false)
    expect(needs).toMatchObject({
      answers: [{ id: answer, subject: 'Which one?' }],
      contacts: [{ from: { name: 'Dora' }, to: { name: 'Cleo' } }],
      conflicts: [
        { holder: { agent: 'Ann', pattern: 'src/**' }, other: { agent: 'Bob', pattern: 'src/a.ts' }, stuck: true },
        { holder: { agent: 'Ann' }, other: { pattern: 'src/b.ts' } },
      ],
      debtors: [{ agent: { name: 'Ann' }, count: 2 }],
      stuck: [{ name: 'Bob', project: expect.stringContaining('frontend') }],
      count: 6,
    })
    // A list that is full may go on.
    for (let n = 0; n < 20; n++) await write('Bob', [{ name: 'HumanOverseer' }])
    expect(await readNeeds(hub, operator)).toMatchObject({ count: 25, more: true })
    expect((await remindAgent(hub, person, back, 'Ann')).messages).toHaveLength(2)
    expect((await remindAgent(hub, person, back, 'Ann')).messages).toEqual([])
    const { messages } = await listInbox(hub, registered('Ann', back), { limit: 10, bodies: true })
    expect(messages.filter(({ subject }) => subject === 'Reminder: 2 acknowledgements')).toHaveLength(1)
    // Nobody can acknowledge what has expired or was dropped.
    expect(await countAttention(hub, operator, {})).toMatchObject({ ackRequired: 3, ackOverdue: 2 })
    await dbOf(hub).tx((tx) =>
      tx.change(sql`UPDATE deliveries SET ended = 'dropped', read_at = ${clock.now()} WHERE ack_wanted = 1`),
    )
    expect((await readNeeds(hub, operator)).debtors).toEqual([])
    expect(await countAttention(hub, operator, {})).toMatchObject({ ackRequired: 0, ackOverdue: 0 })
    await hub.close()
  })
})
