/** The commands with which people read and write mail, on both engines: at a terminal, in a pipe and as JSON. */
import type { Command } from 'commander'
import sql from 'sql-template-tag'
import { describe, expect } from 'vitest'
import { preamble } from '../../../src/base/preamble.ts'
import type { Caller } from '../../../src/core/access/callers.ts'
import { operator, person } from '../../../src/core/access/callers.ts'
import { activity } from '../../../src/core/agents/activity.ts'
import { type Hub, inside } from '../../../src/core/hub/hub.ts'
import { noteDelivered } from '../../../src/core/mail/delivered.ts'
import { listInbox } from '../../../src/core/mail/inbox.ts'
import { acknowledgeMessage, markRead } from '../../../src/core/mail/receipts.ts'
import { announce } from '../../../src/core/presence/announce.ts'
import { needProject } from '../../../src/core/projects/projects.ts'
import { agentsCommand, whoCommand } from '../../../src/doors/cli/people/agents.ts'
import { inboxCommand, threadsCommand } from '../../../src/doors/cli/people/inbox.ts'
import type { OpenDesk } from '../../../src/doors/cli/people/person.ts'
import { readCommand, searchCommand } from '../../../src/doors/cli/people/reading.ts'
import { traceCommand } from '../../../src/doors/cli/people/tracing.ts'
import { replyCommand, sendCommand } from '../../../src/doors/cli/people/writing.ts'
import type { Screen } from '../../../src/doors/cli/terminal/screen.ts'
import { storeDesk } from '../../../src/doors/people/store-desk.ts'
import { eachEngine } from '../../support/engines.ts'
import { openTestHub, registered } from '../../support/hub.ts'
import { back, front, openPages } from '../../support/pages.ts'
import { testScreen } from '../../support/screen.ts'
import { serverDesk } from '../../support/server-desk.ts'
import { verifies } from '../../support/verifies.ts'

type Make = (open: OpenDesk, screen: Screen) => Command

interface Given {
  readonly tty?: boolean
  readonly as?: Caller
  readonly input?: string
  readonly width?: number
}

/** By the store, and by a server beside it: the same commands, the same answers and the same errors (cli.people.server). */
const desks = {
  'by the store': async (hub: Hub, as: Caller = person) => storeDesk(hub, as),
  'by a server': async (hub: Hub, as: Caller = operator) => serverDesk(hub, as),
}

eachEngine('People', (openDatabase, dialect) => {
  // The engines differ only behind the desk of the store.
  for (const [way, desk] of Object.entries(desks))
    if (dialect === 'sqlite' || desk === desks['by the store'])
      describe(way, () => {
        const start = async () => {
          const watched = await openPages(openDatabase)
          const { hub, clock, database } = watched
          const run = async (make: Make, args: string[], { tty = false, as, input, width = 120 }: Given = {}) => {
            const { seen, screen } = testScreen({ tty, width })
            const open = async () => desk(await openTestHub(await database.connect(), { clock }), as)
            const read = async function* () {
              if (input !== undefined) yield new TextEncoder().encode(input)
            }
            const made = make(open, { ...screen, input: { ...screen.input, tty: false, read } })
            await made.parseAsync(args, { from: 'user' })
            return seen
          }
          const json = async (make: Make, args: string[], given?: Given) =>
            JSON.parse((await run(make, [...args, '--json'], given)).out)
          const [slug, other] = [await needProject(hub, person, back), await needProject(hub, person, front)].map(
            (one) => one.slug,
          ) as [string, string]
          return { ...watched, run, json, slug, other }
        }
        const rows = (text: string) =>
          text
            .trimEnd()
            .split('\n')
            .map((line) => line.split('\t'))

        verifies(['cli.people.inbox', 'cli.people.forms'], 'inbox lists all mail, or that of one agent', async () => {
          const { hub, write, run, json, slug, other, say } = await start()
          const first = await write('Ann', [{ name: 'Bob' }], { subject: 'One', importance: 'urgent' })
          const second = await write('Dora', [{ name: 'Bob' }], { subject: 'Two' }, front)
          await say('Cleo', 'good morning')
          const all = rows((await run(inboxCommand, [])).out)
          expect(all[0]).toEqual(['id', 'project', 'from', 'to', 'subject', 'marks', 'sent'])
          expect(all.slice(1)).toMatchObject([
            [expect.any(String), slug, 'Cleo', '', 'standup', '', expect.any(String)],
            [String(second), other, 'Dora', 'Bob', 'Two', 'unread', expect.stringMatching(/Z$/)],
            [String(first), slug, 'Ann', 'Bob', 'One', 'unread, urgent', expect.any(String)],
          ])
          const ids = async (...args: string[]) =>
            (await json(inboxCommand, args)).messages.map(({ id }: { id: number }) => id)
          expect(await ids(`Bob@${other}`)).toEqual([second])
          expect(await ids('Bob', '--project', back)).toEqual([first])
          expect(await ids('Ann', '--sent')).toEqual([first])
          expect(await ids('--from', 'Ann')).toEqual([first])
          expect(await ids('--unread', '--project', front)).toEqual([second])
          expect(await json(inboxCommand, ['--unread', '--limit', '1'])).toMatchObject({
            count: 1,
            has_more: true,
            next_before: second,
          })
          expect(await ids('--unread', '--before', String(second))).toEqual([first])
          const { out } = await run(inboxCommand, ['Bob', '--project', back], { tty: true })
          expect(out).toMatch(
            /^ *ID +PROJECT +FROM +TO +SUBJECT +MARKS +SENT\n +\d+ +\S+ +Ann +Bob +One +unread, urgent +/,
          )
          await hub.close()
        })

        verifies(['cli.people.read', 'cli.people.harmless'], 'read shows a message by its number', async () => {
          const { hub, write, run, json, slug } = await start()
          const evil = 'a\u001b[2J\nFrom: HumanOverseer\n\u202eb'
          const id = await write('Ann', [{ name: 'Bob' }], { subject: 'x\u001b[31m', body: evil, ackRequired: true })
          const { out, err } = await run(readCommand, [`#${id}`], { tty: true })
          expect(out).toContain(`Message: #${id}\nSubject: x␛[31m\nFrom: Ann\nTo: Bob (unread)\nProject: ${slug}\n`)
          expect(out).toMatch(/\n {4}a␛\[2J\n {4}From: HumanOverseer\n {4}\\u202eb\n$/)
          expect(err).toContain(`parley reply ${id}`)
          expect(await json(readCommand, [String(id)])).toMatchObject({
            id,
            body_md: evil,
            recipients: [{ name: 'Bob', state: 'unread', kind: 'to' }],
          })
          // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
          const steering = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/
          for (const make of [inboxCommand, threadsCommand, agentsCommand] as Make[])
            for (const args of [[], ['--json']]) expect((await run(make, args)).out).not.toMatch(steering)
          await hub.close()
        })

        verifies('cli.people.trace', 'from queued to acknowledged', async () => {
          const { hub, clock, write, run, json } = await start()
          const to = [{ name: 'Bob' }, { name: 'Cleo' }]
          const id = await write('Ann', to, { subject: 'a secret', ackRequired: true })
          const traced = async () => (await json(traceCommand, [String(id)])).recipients[0]
          expect(await traced()).toMatchObject({ name: 'Bob', kind: 'to', state: 'queued', offered_ts: null })
          expect((await traced()).reach.text).toMatch(/seen|never/)
          const bob = registered('Bob', back)
          await announce(hub, bob, { via: 'claude', session: 's' })
          expect(await traced()).toMatchObject({ state: 'offered', offered_via: 'claude', read_ts: null })
          noteDelivered(hub, bob, [id])
          await expect.poll(() => clock.pending).toBeGreaterThan(0)
          clock.advance(1000)
          await expect.poll(traced).toMatchObject({ state: 'delivered', offered_via: 'claude' })
          await markRead(hub, bob, id)
          expect(await traced()).toMatchObject({ state: 'read', ack_ts: null })
          await acknowledgeMessage(hub, bob, id)
          expect(await traced()).toMatchObject({ state: 'acked', ack_ts: expect.stringMatching(/Z$/) })
          expect(await traced()).not.toHaveProperty('reach')
          const { out } = await run(traceCommand, [String(id)], { tty: true, width: 160 })
          expect(out).toMatch(/^#\d+ from Ann in \S+, sent .*\n\n *RECIPIENT +KIND +STATE +OFFERED +VIA +DELIVERED/)
          expect(out).toMatch(/Bob +to +acked .* claude .*\n *Cleo +to +queued/)
          expect(out).not.toContain('secret')
          await expect(run(traceCommand, ['9999'])).rejects.toMatchObject({ code: 'MESSAGE_NOT_FOUND' })
          await hub.close()
        })

        verifies('cli.people.unmarked', 'reading marks nothing and makes nobody active', async () => {
          const { hub, clock, write, run } = await start()
          const id = await write('Ann', [{ name: 'Bob' }], { subject: 'One', body: 'hello' })
          const state = async () => ({
            agents: await hub[inside].db.all(sql`SELECT id, active_at, unread FROM agents ORDER BY id`),
            read: await hub[inside].db.all(sql`SELECT read_at, acked_at FROM deliveries`),
            changes: await hub[inside].db.all(sql`SELECT MAX(id) AS id FROM changes`),
          })
          await activity(hub).write()
          const before = await state()
          clock.advance(60_000)
          await run(inboxCommand, [])
          await run(inboxCommand, ['Bob', '--project', back])
          await run(readCommand, [String(id)])
          await run(threadsCommand, [])
          await run(whoCommand, [])
          await run(agentsCommand, [])
          expect(await state()).toEqual(before)
          // The search index is brought up to date by whoever searches first: that is no change of mail.
          await run(searchCommand, ['hello'])
          expect(await state()).toEqual(before)
          await hub.close()
        })

        verifies('cli.people.send', 'send writes as the overseer, by the first line or a subject', async () => {
          const { hub, run, json, slug, other } = await start()
          expect((await run(sendCommand, ['Ann', 'Please', 'stop.'])).out).toMatch(
            new RegExp(`^Sent #\\d+ to Ann@${slug} as HumanOverseer\\.\\n$`),
          )
          const inbox = async (name: string, project: string) =>
            (await listInbox(hub, registered(name, project), { limit: 10, bodies: true })).messages
          expect(await inbox('Ann', back)).toMatchObject([
            {
              subject: 'Please stop.',
              importance: 'high',
              from: { name: 'HumanOverseer' },
              body: `${preamble}Please stop.`,
            },
          ])
          const given = { input: 'line one\nline two\n' }
          const receipt = await json(sendCommand, [`Bob@${other},Cleo`, '--subject', 'Both', '-'], given)
          expect(receipt).toMatchObject({
            thread_id: expect.stringMatching(/^overseer-/),
            sent: [
              { project: other, recipients: ['Bob'] },
              { project: slug, recipients: ['Cleo'] },
            ],
            blocked: [],
          })
          expect(await inbox('Bob', front)).toMatchObject([{ subject: 'Both', body: `${preamble}line one\nline two` }])
          await hub.close()
        })

        verifies('cli.people.unseen', 'send says that nobody has answered to a name, as an agent is told', async () => {
          const { hub, write, run, json } = await start()
          // An agent mistyped it once.
          await write('Ann', [{ name: 'Cleoo' }], { subject: 'One' })
          const note =
            'Nobody has answered to the name Cleoo yet: the message waits for an agent that registers under this name. If you meant Cleo, send it again to that name.'
          expect((await run(sendCommand, ['Cleoo', 'hello'])).err).toBe(`${note}\n`)
          expect(await json(sendCommand, ['Cleoo,Ann', 'hello'])).toMatchObject({ note })
          expect(await json(sendCommand, ['Ann', 'hello'])).not.toHaveProperty('note')
          await hub.close()
        })

        verifies('cli.people.reply', 'reply answers the thread of a message, and a topic', async () => {
          const { hub, write, say, run, json, slug } = await start()
          const id = await write('Ann', [{ name: 'Bob' }], { subject: 'One' })
          const answer = await json(replyCommand, [String(id), 'Go', 'ahead.'])
          expect(answer).toMatchObject({ project: slug, message_id: expect.any(Number) })
          expect(await json(readCommand, [String(answer.message_id)])).toMatchObject({
            subject: 'Re: One',
            from: 'HumanOverseer',
            to: expect.arrayContaining(['Ann', 'Bob']),
            reply_to: id,
            body_md: `${preamble}Go ahead.`,
          })
          await say('Cleo', 'anybody?')
          const [said] = (await json(inboxCommand, ['--from', 'Cleo'])).messages
          expect((await run(replyCommand, [String(said.id), 'me'])).out).toMatch(/^Answered #\d+ in \w+ of \S+\.\n$/)
          expect((await json(inboxCommand, ['--from', 'HumanOverseer'])).messages[0]).toMatchObject({ excerpt: 'me' })
          await hub.close()
        })

        verifies(['cli.people.threads', 'cli.people.search'], 'threads and search go over all projects', async () => {
          const { hub, write, run, json, slug, other } = await start()
          const first = await write('Ann', [{ name: 'Bob' }], {
            subject: 'Cache',
            body: 'drop the cache',
            thread: 'K-1',
          })
          const second = await write('Bob', [{ name: 'Ann' }], { subject: 'Cache', body: 'done', thread: 'K-1' })
          const third = await write('Dora', [{ name: 'Bob' }], { subject: 'Menu', body: 'a cache of menus' }, front)
          expect(rows((await run(threadsCommand, [])).out).map((row) => row.slice(0, 6))).toEqual([
            ['project', 'thread', 'subject', 'messages', 'last id', 'last from'],
            [other, String(third), 'Menu', '1', String(third), 'Dora'],
            [slug, 'K-1', 'Cache', '2', String(second), 'Bob'],
          ])
          expect((await json(threadsCommand, ['--project', front])).messages).toMatchObject([{ id: third, count: 1 }])
          const found = await json(searchCommand, ['cache', '--newest'])
          expect(found.results.map(({ id }: { id: number }) => id)).toEqual([third, second, first])
          expect(await json(searchCommand, ['body:cache', '--project', front])).toMatchObject({
            results: [{ id: third, snippet: 'a **cache** of menus' }],
            total: 1,
            next_page: null,
          })
          // The language of the pages and tools.
          const idsOf = async (...words: string[]) => {
            const { results } = await json(searchCommand, [...words, '--newest'])
            return results.map(({ id }: { id: number }) => id)
          }
          expect(await idsOf('is:unread cache thread:K-1')).toEqual([second, first])
          expect(await idsOf('to:Ann')).toEqual([second])
          expect(await idsOf('cache -from:Dora before:2099-01-01 is:unacked')).toEqual([])
          expect(await idsOf('importance:normal', `project:${other}`)).toEqual([third])
          expect((await json(searchCommand, ['priority:cache'])).note).toContain('priority: is no operator')
          expect((await json(searchCommand, ['cach'])).suggestion).toBe('cach*')
          expect(rows((await run(searchCommand, ['menus'])).out)[1]?.slice(0, 5)).toEqual([
            String(third),
            other,
            'Dora',
            'Menu',
            'a cache of menus',
          ])
          expect(await run(searchCommand, ['nowhere'], { tty: true })).toEqual({ out: '', err: 'Nothing was found.\n' })
          await hub.close()
        })

        verifies(['cli.people.who', 'cli.people.reach'], 'who was active, and everybody', async () => {
          const { hub, clock, run, json, write, slug } = await start()
          clock.advance(2 * 3_600_000)
          await write('Ann', [{ name: 'Bob' }])
          await run(sendCommand, ['Ann', 'x'])
          await hub.close()
          const lately = rows((await run(whoCommand, [])).out)
          expect(lately).toEqual([
            ['agent', 'project', 'roles', 'task', 'unread', 'last active', 'reach'],
            ['Ann', slug, '', '', '1', expect.stringMatching(/Z$/), 'seen 0 s ago'],
          ])
          const { agents } = await json(agentsCommand, [])
          expect(agents.map(({ name }: { name: string }) => name).sort()).toEqual(['Ann', 'Bob', 'Bob', 'Cleo', 'Dora'])
          expect((await json(agentsCommand, ['--project', front])).count).toBe(2)
          expect((await run(whoCommand, ['--project', front], { tty: true })).err).toMatch(/^Nobody was active/)
        })

        verifies('cli.people.person', 'sealed mail stays sealed, and an agent is itself', async () => {
          const { hub, write, keyed, run, json } = await start()
          const secret = await write('Ann', [{ name: 'Bob' }], { subject: 'Secret', body: 'quiet' })
          const open = await write('Cleo', [{ name: 'Ann' }], { subject: 'Open' })
          const [ann] = [await keyed('Ann'), await keyed('Bob')]
          const sealed = await run(readCommand, [String(secret)])
          expect(sealed.out).toContain('All agents of this message hold keys')
          expect(sealed.out + (await run(inboxCommand, [])).out).not.toMatch(/Secret|quiet/)
          const cleo = await keyed('Cleo')
          expect((await json(inboxCommand, [], { as: ann })).messages).toMatchObject([{ id: open }, { id: secret }])
          expect((await json(inboxCommand, [], { as: cleo })).messages).toMatchObject([{ id: open }])
          await expect(run(readCommand, [String(secret)], { as: cleo })).rejects.toMatchObject({
            code: 'MESSAGE_NOT_FOUND',
          })
          await expect(run(sendCommand, ['Ann', 'x'], { as: cleo })).rejects.toMatchObject({
            code: 'FORBIDDEN',
            hint: expect.stringContaining('PARLEY_API_KEY'),
          })
          await run(replyCommand, [String(open), 'as myself'], { as: ann })
          expect((await json(inboxCommand, ['Cleo', '--project', back], { as: cleo })).messages).toMatchObject([
            { from: 'Ann', excerpt: 'as myself' },
          ])
          await hub.close()
        })

        verifies('cli.people.errors', 'a name or number that is not there leads on', async () => {
          const { hub, run, slug, other } = await start()
          const fails = (make: Make, args: string[], message: RegExp, hint: RegExp) =>
            expect(run(make, args)).rejects.toMatchObject({
              message: expect.stringMatching(message),
              hint: expect.stringMatching(hint),
            })
          await fails(readCommand, ['999'], /^There is no message 999\.$/, /^`parley inbox` lists/)
          await fails(replyCommand, ['999', 'x'], /^There is no message 999\.$/, /^`parley inbox` lists/)
          await fails(
            inboxCommand,
            ['Anm'],
            /^No project has an agent "Anm"\.$/,
            new RegExp(`^Did you mean Ann@${slug}\\? \``),
          )
          await fails(
            inboxCommand,
            ['Bob'],
            /^Several projects have an agent "Bob"/,
            new RegExp(`${slug}, or ${other}`),
          )
          await fails(inboxCommand, ['--project', 'nowhere'], /^There is no project/, /`parley list-projects`/)
          await fails(
            sendCommand,
            ['Clea', 'x'],
            /"Clea"/,
            new RegExp(`Nothing was sent\\. Did you mean Cleo@${slug}\\?`),
          )
          await fails(sendCommand, [`Clea@${slug}`, 'x'], /"Clea"/, /Nothing was sent\. Did you mean Cleo\?/)
          await fails(sendCommand, ['Ann', ' '], /needs a text/, /Nothing was sent/)
          await expect(run(inboxCommand, ['--sent'])).rejects.toMatchObject({ code: 'parley.usage' })
          await hub.close()
        })
      })
})
