/** Sealed mail and blind copies over HTTP: every page in every form, the event stream and files, for each who may not have them. */
import { get, type IncomingMessage } from 'node:http'
import { describe, expect, onTestFinished } from 'vitest'
import { openDatabase } from '../../../src/app/open.ts'
import { local, operator } from '../../../src/core/access/callers.ts'
import { ensureAgent } from '../../../src/core/agents/agents.ts'
import { createKey } from '../../../src/core/agents/keys.ts'
import type { Hub } from '../../../src/core/hub/hub.ts'
import { reply } from '../../../src/core/messages/reply.ts'
import { send } from '../../../src/core/messages/send.ts'
import { pages } from '../../../src/doors/web/routes.ts'
import { loadConfig } from '../../../src/settings/read.ts'
import { signShared } from '../../support/authority.ts'
import { eachEngine, type OpenDatabase } from '../../support/engines.ts'
import { openTestHub, registered } from '../../support/hub.ts'
import { bareEnv, callTool, type Served, serveHere, temporaryFolder } from '../../support/parley.ts'
import { uriOf } from '../../support/pictures.ts'
import { verifies } from '../../support/verifies.ts'
import { type Visitor, visitor } from '../../support/web.ts'

const secret = 'a secret of more than thirty-two bytes'
const token = 'the-operators-token-for-the-pages'
const project = '/srv/vault'

/** IronGate and StillWater hold keys, and write of pineapples; HiddenOwl has a blind copy of what Ann writes to Bob. */
async function seed(hub: Hub) {
  for (const name of ['Ann', 'Bob', 'HiddenOwl']) await ensureAgent(hub, local, { project, name })
  for (const name of ['IronGate', 'StillWater']) {
    await ensureAgent(hub, local, { project, name })
    await createKey(hub, { caller: operator, project, name, registered: true })
  }
  const urgent = { importance: 'urgent', ackRequired: true } as const
  const gate = { ...registered('IronGate', project), caller: operator }
  const { messageId: sealed } = await send(hub, gate, {
    to: [{ name: 'StillWater' }],
    subject: 'pineapple harvest',
    body: 'TODO: bring the pineapple home. Will you?',
    enclosing: { paths: [uriOf('text/plain', Buffer.from('pineapple in a file'))] },
    ...urgent,
  })
  await reply(
    hub,
    { ...registered('StillWater', project), caller: operator },
    { messageId: sealed, body: 'pineapple!' },
  )
  const { messageId: open } = await send(hub, registered('Ann', project), {
    to: [{ name: 'Bob' }, { name: 'HiddenOwl', kind: 'bcc' }],
    subject: 'An open word',
    body: 'hello',
    ...urgent,
  })
  return { sealed, open }
}

interface Pages {
  readonly served: Served
  readonly slug: string
  readonly sealed: number
  readonly open: number
  readonly people: Visitor
  /** Callers that may not read sealed mail: two tokens, and a caller without one. */
  readonly blind: Readonly<Record<'reader' | 'writer', Visitor>>
  readonly local: Visitor
  readonly headers: Readonly<Record<'reader' | 'writer', { Authorization: string }>>
}

async function serving(open: OpenDatabase, look: (at: Pages) => Promise<void>): Promise<void> {
  const database = await open()
  const hub = await openTestHub(await database.connect())
  const ids = await seed(hub)
  await hub.close()
  const env = { DATABASE_URL: database.url, HTTP_JWT_ENABLED: 'true', HTTP_JWT_SECRET: secret }
  const served = await serveHere({ env: { ...env, HTTP_BEARER_TOKEN: token } })
  const bearer = async (role: string) => ({ Authorization: `Bearer ${await signShared(secret, { sub: role, role })}` })
  const headers = { reader: await bearer('reader'), writer: await bearer('writer') }
  const people = visitor(served.url, { Authorization: `Bearer ${token}` })
  const { projects } = await people.data<{ projects: { slug: string; human_key: string }[] }>('/mail/projects')
  const at = {
    served,
    slug: projects.find(({ human_key }) => human_key === project)?.slug ?? '',
    ...ids,
    people,
    blind: { reader: visitor(served.url, headers.reader), writer: visitor(served.url, headers.writer) },
    local: visitor(served.url),
    headers,
  }
  try {
    await look(at)
  } finally {
    await served.stop()
  }
}

/** Every page, with all that could bring a sealed message onto it; the words asked for are cut short, since pages echo them. */
const addresses = ({ slug, sealed }: Pages): Record<string, string[]> => ({
  '/mail': ['/mail', '/mail?importance=urgent', '/mail?unread=1', '/mail?from=IronGate', `/mail?project=${slug}`],
  '/mail/unified-inbox': ['/mail/unified-inbox', `/mail/unified-inbox?project=${slug}`],
  '/mail/projects': ['/mail/projects'],
  '/mail/agents': ['/mail/agents'],
  '/mail/attention': ['urgent', 'unread', 'ack-required', 'ack-overdue'].map((view) => `/mail/attention?view=${view}`),
  '/mail/jump': ['/mail/jump', '/mail/jump?q=pineap'],
  '/mail/search': searches.map((query) => `/mail/search?${query}`),
  // No mail is on it, and it is closed to these: test/machines/public-url.test.ts.
  '/mail/invitations': [],
  '/mail/overseer/compose': ['/mail/overseer/compose', `/mail/overseer/compose?thread_id=${sealed}`],
  '/mail/:project': [`/mail/${slug}`],
  '/mail/:project/search': searches.map((query) => `/mail/${slug}/search?${query}`),
  '/mail/:project/inbox/:agent': ['StillWater', 'IronGate?box=outbox', 'StillWater?unread=1'].map(
    (box) => `/mail/${slug}/inbox/${box}`,
  ),
  '/mail/:project/message/:id': [`/mail/${slug}/message/${sealed}`, `/mail/${slug}/message/${sealed + 1}`],
  '/mail/:project/threads': ['', '?q=pineap', '?kind=mail'].map((query) => `/mail/${slug}/threads${query}`),
  '/mail/:project/thread/:thread': [`/mail/${slug}/thread/${sealed}`, `/mail/${slug}/thread/${sealed}?summary=1`],
  '/mail/:project/file_reservations': [`/mail/${slug}/file_reservations`],
  '/mail/:project/contacts': [`/mail/${slug}/contacts`],
  '/mail/:project/attachments': [`/mail/${slug}/attachments`],
  '/mail/:project/activity': [`/mail/${slug}/activity?window=1h`, `/mail/${slug}/activity?window=30d`],
  '/mail/:project/overseer/compose': [`/mail/${slug}/overseer/compose`],
})

const searches = [
  'q=pineap*',
  'q=subject:pineap*',
  'from=IronGate',
  'importance=urgent',
  'attachments=1',
  'q=is:sealed',
  'q=has:attachment',
  'unread=1&to=StillWater',
]

const withForm = (path: string, format: string): string => `${path}${path.includes('?') ? '&' : '?'}format=${format}`

const forms = ['html', 'json', 'md']

/** Where the word stands, of all pages in these forms. */
async function found(at: Pages, who: Visitor, inForms = forms): Promise<string[]> {
  const told: string[] = []
  for (const path of Object.values(addresses(at)).flat())
    for (const format of inForms) {
      const { status, text } = await who.get(withForm(path, format))
      if (![200, 400, 404].includes(status)) told.push(`${path} as ${format}: ${status}`)
      if (text.includes('pineapple')) told.push(`${path} as ${format}`)
    }
  return told
}

/** The events of a stream so far. */
async function listen(url: string, headers: Record<string, string>) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = get(url, { headers: { accept: 'text/event-stream', ...headers } }, resolve)
    request.on('error', reject)
    onTestFinished(() => void request.destroy())
  })
  let text = ''
  response.on('error', () => {})
  response.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  await expect.poll(() => text).toContain(': connected')
  return () => text
}

describe('The list of pages above', () => {
  verifies('web.access.tokens', 'has each of them', () => {
    const none = { slug: 'x', sealed: 1 } as Pages
    expect(Object.keys(addresses(none)).sort()).toEqual(Object.keys(pages).sort())
  })
})

describe('A list of sealed mail', () => {
  verifies('web.looks.rows', 'is one row of an inbox for each pair, and one name of a thread', async () => {
    const storage = await temporaryFolder()
    const hub = await openTestHub(await openDatabase(loadConfig(bareEnv(storage))))
    const { sealed } = await seed(hub)
    const gate = { ...registered('IronGate', project), caller: operator }
    for (const subject of ['Two', 'Three']) await send(hub, gate, { to: [{ name: 'StillWater' }], subject, body: 'x' })
    await hub.close()
    const served = await serveHere({ storage })
    const ann = visitor(served.url)
    const { projects } = await ann.data<{ projects: { slug: string }[] }>('/mail/projects?q=vault')
    const path = `/mail/${projects[0]?.slug}`
    const box = async () => (await ann.get(`${path}/inbox/StillWater`)).text
    const rowsOf = async () => (await box()).match(/<li class="row[^>]*>/g)?.length
    // The first wants an acknowledgement, which the others do not.
    expect(await rowsOf()).toBe(2)
    const [form = ''] = /<form class="onhover"[\s\S]*?<\/form>/.exec(await box()) ?? []
    const read = [...form.matchAll(/name="read" value="(\d+)"/g)].map(([, id]) => id ?? '')
    expect(read).toHaveLength(2)
    await ann.post(`${path}/inbox/StillWater`, { read })
    expect((await ann.data<{ agent: { unread_count: number } }>(`${path}/inbox/StillWater`)).agent.unread_count).toBe(1)
    expect((await ann.get(`${path}/thread/${sealed}`)).text).toContain('<span>Sealed thread</span>')
    expect((await ann.get('/mail')).text).toContain('<span class="name">Sealed thread</span>')
    await served.stop()
  })
})

eachEngine('Sealed mail', (open, dialect) => {
  verifies('web.access.tokens', 'is on no page, in no form, for a token that names no agent', () =>
    serving(open, async (at) => {
      // Every form reads the same: one engine is enough to see that none adds to it.
      const inForms = dialect === 'sqlite' ? forms : ['json']
      // The word is there: those who may read it find it on most pages.
      expect((await found(at, at.people, inForms)).length).toBeGreaterThan(10 * inForms.length)
      expect({
        reader: await found(at, at.blind.reader, inForms),
        writer: await found(at, at.blind.writer, inForms),
        local: await found(at, at.local, inForms),
      }).toEqual({ reader: [], writer: [], local: [] })
      for (const who of Object.values(at.blind)) {
        expect(await who.data(`/mail/${at.slug}/message/${at.sealed}`)).toMatchObject({
          sealed: true,
          subject: '',
          body_md: '',
          attachments: [],
        })
        const hits = await who.data<{ results: unknown[] }>('/mail/search?q=pineap*')
        expect(hits.results).toEqual([])
        const named = await who.data<{ threads: unknown[] }>(`/mail/${at.slug}/threads?q=pineap`)
        expect(named.threads).toEqual([])
      }
    }),
  )

  verifies('web.access.tokens', 'gives no token its files', () =>
    serving(open, async (at) => {
      const { attachments } = await at.people.data<{ attachments: { path: string }[] }>(
        `/mail/${at.slug}/message/${at.sealed}`,
      )
      const path = `/mail/${at.slug}/${attachments[0]?.path}`
      const statuses: Record<string, number> = {}
      for (const [name, who] of Object.entries({ people: at.people, local: at.local, ...at.blind }))
        statuses[name] = (await who.get(path)).status
      expect(statuses).toEqual({ people: 200, local: 404, reader: 404, writer: 404 })
    }),
  )

  verifies('web.access.tokens', 'and blind copies are in no count, list, chart or event of a token', () =>
    serving(open, async (at) => {
      const { slug, served } = at
      const events = `${served.url}/mail/events?project=${slug}`
      const streams = []
      for (const headers of Object.values(at.headers))
        streams.push({
          all: await listen(events, headers),
          owl: await listen(`${events}&agent=HiddenOwl`, headers),
          bob: await listen(`${events}&agent=Bob`, headers),
        })
      const person = await listen(`${events}&agent=HiddenOwl`, { Authorization: `Bearer ${token}` })
      const call = async (name: string, args: object) =>
        (await callTool(`${served.url}/mcp`, name, { project_key: project, ...args })).structuredContent
      await call('send_message', {
        sender_name: 'Ann',
        to: ['Bob'],
        bcc: ['HiddenOwl'],
        subject: 'More',
        body_md: 'pineapple',
      })
      await expect.poll(person).toContain('message.sent')
      await call('mark_message_read', { agent_name: 'HiddenOwl', message_id: at.open })
      await expect.poll(person).toContain('mail.read')
      await call('mark_message_read', { agent_name: 'Bob', message_id: at.open })
      for (const { all, owl, bob } of streams) {
        await expect.poll(bob).toContain('mail.read')
        await expect.poll(all).toContain('mail.read')
        expect(owl()).not.toContain('event:')
        expect(all() + bob()).not.toContain('pineapple')
        // One of them is Bob's.
        expect(all().match(/"mail\.read"/g)).toHaveLength(1)
      }
      for (const who of Object.values(at.blind)) {
        const message = await who.data<{ bcc: unknown[]; recipients: { name: string }[] }>(
          `/mail/${slug}/message/${at.open}`,
        )
        expect([message.bcc, message.recipients.map(({ name }) => name)]).toEqual([[], ['Bob']])
        const box = await who.data<{ messages: unknown[]; agent: { unread_count: number } }>(
          `/mail/${slug}/inbox/HiddenOwl`,
        )
        expect([box.messages, box.agent.unread_count]).toEqual([[], 0])
        const overview = await who.data<{ agents: { name: string; unread_count: number }[] }>(`/mail/${slug}`)
        expect(overview.agents.find(({ name }) => name === 'HiddenOwl')?.unread_count).toBe(0)
        expect(await who.data('/mail/search?to=HiddenOwl')).toMatchObject({ results: [] })
        const { edges } = await who.data<{ edges: { to: string }[] }>(`/mail/${slug}/activity?window=30d`)
        expect(edges.map(({ to }) => to)).not.toContain('HiddenOwl')
        const late = await who.data<{ messages: { late: { name: string }[] }[] }>('/mail/attention?view=urgent')
        expect(JSON.stringify(late)).not.toContain('HiddenOwl')
      }
      const seen = await at.people.data<{ messages: unknown[] }>(`/mail/${slug}/inbox/HiddenOwl`)
      expect(seen.messages).toHaveLength(2)
    }),
  )
})
