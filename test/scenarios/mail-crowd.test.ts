/** Fifty agents of one project that write, read, acknowledge, reserve and search at the same time. */
import picomatch from 'picomatch'
import { expect } from 'vitest'
import { type Hold, type Journal, type Line, letThemWork, openLine } from '../support/crowd.ts'
import { eachEngine } from '../support/engines.ts'
import { newProject, type Page } from '../support/mail.ts'
import { type Served, serveHere, startParley, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const words = ['Red', 'Blue', 'Green', 'Golden', 'Silver', 'Quiet', 'Swift']
const things = ['Fox', 'Lake', 'Castle', 'Stone', 'River', 'Owl', 'Bear', 'Crow']
const names = words.flatMap((word) => things.map((thing) => word + thing)).slice(0, 50)

const areas = ['api', 'web', 'docs', 'infra']
const patterns = [
  ...areas.flatMap((area) => [`${area}/**`, `${area}/*.ts`, `${area}/a/*`, `${area}/a/x.ts`, `${area}/b.ts`]),
  '**/x.ts',
  '{api,web}/a/**',
]
/** Every pattern has paths of its own here, so that two of them overlap exactly if they share one. */
const paths = areas.flatMap((area) =>
  ['a/x.ts', 'a/y.ts', 'a/b/c.ts', 'b.ts', 'c.ts', 'd.md'].map((file) => `${area}/${file}`),
)
const matched = new Map(
  patterns.map((pattern) => {
    const matches = picomatch(pattern, { dot: true })
    return [pattern, new Set(paths.filter((path) => matches(path)))]
  }),
)
const overlap = (one: string, other: string) =>
  paths.some((path) => matched.get(one)?.has(path) && matched.get(other)?.has(path))

interface Reservation {
  id: number
  agent: string
  path_pattern: string
  exclusive: boolean
  created_ts: string
  expires_ts: string
  released_ts: string | null
}

async function crowd(servers: readonly Served[], { ms, messages }: Effort) {
  const project = newProject()
  const lines = servers.flatMap((server) => Array.from({ length: 4 }, () => openLine(server, 8)))
  const [line] = lines as [Line]
  for (const name of names)
    await line.call('register_agent', { project_key: project, program: 'test', model: 'none', name })
  const journal = await letThemWork({ project, names, patterns, lines, ms, messages })
  expect(journal.faults).toEqual([])
  return { project, line, journal }
}

type After = Awaited<ReturnType<typeof crowd>>

async function inboxOf({ project, line }: After, name: string) {
  const messages: Page['messages'] = []
  for (let next = ''; ; ) {
    const page = await line.read<Page>(`resource://inbox/${name}?project=${project}&limit=100${next}`)
    messages.push(...page.messages)
    if (page.next_before === undefined) return messages
    next = `&before=${page.next_before}`
  }
}

/** Each message once in each inbox, in none else, and the counters say what the inboxes show. */
async function checkInboxes(after: After): Promise<void> {
  const { project, line, journal } = after
  const wanted = new Map(names.map((name) => [name, [] as number[]]))
  for (const { id, recipients } of journal.messages) for (const name of recipients) wanted.get(name)?.push(id)
  for (const name of names) {
    const inbox = await inboxOf(after, name)
    const ids = inbox.map(({ id }) => id).sort((a, b) => a - b)
    expect(ids, `the inbox of ${name}`).toEqual(wanted.get(name)?.sort((a, b) => a - b))
    const read = inbox.filter(({ read_ts }) => read_ts !== null).map(({ id }) => `${name}/${id}`)
    expect(new Set(read), `what ${name} has read`).toEqual(
      new Set([...journal.read].filter((entry) => entry.startsWith(`${name}/`))),
    )
    const { unread_count } = await line.call<{ unread_count: number }>('whois', {
      project_key: project,
      agent_name: name,
    })
    expect(unread_count, `the counter of ${name}`).toBe(inbox.length - read.length)
  }
}

/** Each message by its own word; several words in one query. */
async function checkSearch({ project, line, journal }: After): Promise<void> {
  const missing: string[] = []
  for (let at = 0; at < journal.messages.length; at += 15) {
    const some = journal.messages.slice(at, at + 15)
    const query = some.map(({ word }) => word).join(' OR ')
    const hits = await line.call<{ id: number }[]>('search_messages', { project_key: project, query, limit: 50 })
    const ids = hits.map(({ id }) => id)
    if (ids.length !== some.length) missing.push(`${some.length} words found ${ids.length}`)
    missing.push(...some.filter(({ id }) => !ids.includes(id)).map(({ word }) => word))
  }
  expect(missing).toEqual([])
}

/** Pairs of different agents that held overlapping patterns at the same moment. */
function collisions(holds: readonly Hold[]): [Hold, Hold][] {
  const sorted = holds.filter(({ from, until }) => from < until).sort((a, b) => a.from - b.from)
  return sorted.flatMap((hold, n) => {
    const rivals: [Hold, Hold][] = []
    for (const other of sorted.slice(n + 1)) {
      if (other.from >= hold.until) break
      if (other.agent !== hold.agent && overlap(hold.pattern, other.pattern)) rivals.push([hold, other])
    }
    return rivals
  })
}

/** Two nodes note the moment by their own clocks, and each before it has done the work. */
const nodesDiffer = 100

async function checkLeases({ project, line, journal }: After, servers: number): Promise<void> {
  expect(journal.holds.length, 'leases were granted').toBeGreaterThan(10)
  expect(journal.conflicts, 'and refused').toBeGreaterThan(10)
  expect(collisions(journal.holds), 'by what agents were answered').toEqual([])
  // The server's own record is sharper: it has the moment of each grant and release.
  const all: Reservation[] = []
  for (let before = ''; ; ) {
    const uri = `resource://file_reservations/${encodeURIComponent(project)}?active_only=false&limit=1000${before}`
    const page = await line.read<Reservation[]>(uri)
    all.push(...page)
    if (page.length < 1000) break
    before = `&before=${page.at(-1)?.id}`
  }
  const ids = new Set(all.map(({ id }) => id))
  expect(ids.size).toBe(all.length)
  const recorded = all.map(({ agent, path_pattern, created_ts, expires_ts, released_ts }) => ({
    agent,
    pattern: path_pattern,
    from: Date.parse(created_ts),
    until: Math.min(Date.parse(expires_ts), Date.parse(released_ts ?? expires_ts)) - (servers > 1 ? nodesDiffer : 0),
  }))
  expect(collisions(recorded), 'by what the server noted').toEqual([])
}

/** How long they work at least, and how many messages they send. */
interface Effort {
  readonly ms: number
  readonly messages: number
}

const enough = ({ messages, calls }: Journal, least: number): void => {
  expect(messages.length).toBeGreaterThan(least)
  expect([...calls.keys()].sort()).toEqual([
    'acknowledge_message',
    'fetch_inbox',
    'file_reservation_paths',
    'mark_message_read',
    'release_file_reservations',
    'renew_file_reservations',
    'reply_message',
    'search_messages',
    'send_message',
  ])
}

async function checkAll(servers: readonly Served[], effort: Effort): Promise<void> {
  const after = await crowd(servers, effort)
  enough(after.journal, effort.messages)
  await checkInboxes(after)
  await checkSearch(after)
  await checkLeases(after, servers.length)
}

verifies(
  ['mail.crowd.messages', 'mail.crowd.leases', 'mail.crowd.counters', 'mail.lease.refuse'],
  'Fifty agents at one server, none of which pauses: nothing is lost, doubled, or held twice',
  // Long enough for leases of 1 and 2 s to run out and be granted anew.
  async () => checkAll([await startParley()], { ms: 3_000, messages: 200 }),
  60_000,
)

eachEngine('Two servers on one database', (open) => {
  verifies(
    ['mail.crowd.messages', 'mail.crowd.leases', 'mail.crowd.counters'],
    'Fifty agents at both of them: nothing is lost, doubled, or held twice',
    async () => {
      const { url } = await open()
      const options = { storage: await temporaryFolder(), env: { DATABASE_URL: url } }
      // One of the processes is the test's own.
      const [there, here] = [await startParley(options), await serveHere(options)]
      await checkAll([there, here], { ms: 2_000, messages: 50 })
      await here.stop()
      expect(await there.end()).toBe(0)
    },
    90_000,
  )
})
