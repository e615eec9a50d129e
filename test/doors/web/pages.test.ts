/** Every page as HTML and as data, on both engines, from a hub with a few days of work in it. */
import { expect } from 'vitest'
import { send } from '../../../src/core/messages/send.ts'
import { TestClock } from '../../support/clock.ts'
import { eachEngine, type OpenDatabase } from '../../support/engines.ts'
import { seedHostile } from '../../support/hostile.ts'
import { as, openTestHub } from '../../support/hub.ts'
import { serveHere } from '../../support/parley.ts'
import { seedHub, seedSealed } from '../../support/seeded.ts'
import { verifies } from '../../support/verifies.ts'
import { strangeIn, type Visitor, visitor } from '../../support/web.ts'

type Hub = Awaited<ReturnType<typeof openTestHub>>

interface Message {
  id: number
  project: string
  thread_id: string | null
  subject: string
  from: string
  to: string[]
  importance: string
  unread: number
  sealed?: true
}

/** A server over a database that was filled by core, with the clock of the machine from then on. */
async function serving(
  open: OpenDatabase,
  seed: (hub: Hub, clock: TestClock) => Promise<unknown>,
  look: (ann: Visitor, url: string) => Promise<void>,
) {
  const database = await open()
  const clock = new TestClock()
  const hub = await openTestHub(await database.connect(), { clock })
  await seed(hub, clock)
  await hub.close()
  const served = await serveHere({ env: { DATABASE_URL: database.url } })
  try {
    await look(visitor(served.url), served.url)
  } finally {
    await served.stop()
  }
}

async function slugOf(ann: Visitor, name: string): Promise<string> {
  const { projects } = await ann.data<{ projects: { slug: string }[] }>(`/mail/projects?q=${name}`)
  return projects[0]?.slug ?? ''
}

const seeded = (hub: Hub, clock: TestClock) => seedHub(hub, clock, Date.now()).then(() => seedSealed(hub))

eachEngine('The pages', (open) => {
  verifies('web.message.reach', 'in words and as data', async () => {
    let last = 0
    const seed = async (hub: Hub) => {
      for (const body of ['one', 'two'])
        last = (await send(hub, as('ann', '/srv/late'), { to: [{ name: 'bob' }], body })).messageId
    }
    await serving(open, seed, async (ann) => {
      const path = `/mail/${await slugOf(ann, 'late')}/message/${last}`
      const reach = 'has never been here; 1 unread before yours'
      expect((await ann.get(path)).text).toContain(reach)
      expect(await ann.data(path)).toMatchObject({ recipients: [{ name: 'bob', reach }] })
    })
  })

  verifies(['web.pages.json', 'web.headers.csp', 'web.text.export'], 'are there as HTML and as data', async () => {
    await serving(open, seeded, async (ann) => {
      const slug = await slugOf(ann, 'backend')
      const { messages } = await ann.data<{ messages: Message[] }>('/mail?limit=200')
      const plan = messages.find(({ subject }) => subject === 'Plan for the order tables')
      const picture = messages.find(({ subject }) => subject.startsWith('Latency'))
      const pages: [path: string, fields: string[], shows: string][] = [
        ['/mail', ['messages', 'projects', 'suggestions', 'next'], 'Staging is red'],
        ['/mail?unread=1&importance=urgent&from=RedStone', ['messages'], 'Staging is red'],
        ['/mail/unified-inbox', ['messages', 'next'], 'Order form'],
        ['/mail/projects', ['projects'], '/srv/repos/handbook'],
        ['/mail/attention?view=urgent', ['counts', 'view', 'messages', 'next'], 'Staging is red'],
        ['/mail/search?q=backfill', ['query', 'results', 'facets', 'next'], '<mark>backfill</mark>'],
        [`/mail/${slug}`, ['project', 'agents', 'threads', 'siblings', 'counts'], 'Moving the order service'],
        [`/mail/${slug}/search?q=refund*&order=time`, ['query', 'results'], 'Re: Plan'],
        [`/mail/${slug}/inbox/GreenCastle`, ['agent', 'page', 'limit', 'messages', 'next'], 'Error codes'],
        [`/mail/${slug}/inbox/greencastle?box=outbox&page=1`, ['messages'], 'Plan for the order tables'],
        [
          `/mail/${slug}/message/${plan?.id}`,
          ['body_md', 'bcc', 'recipients', 'thread'],
          '<strong>three steps</strong>',
        ],
        [`/mail/${slug}/threads`, ['threads', 'next'], 'standup'],
        [
          `/mail/${slug}/thread/ORD-214`,
          ['thread_id', 'subject', 'status', 'participants', 'messages', 'next'],
          `id="m-${plan?.id}"`,
        ],
        [`/mail/${slug}/thread/ORD-214?summary=1`, ['summary'], 'stays in receipts for two years'],
        [`/mail/${slug}/file_reservations`, ['file_reservations'], 'db/migrations/**'],
        [`/mail/${slug}/contacts`, ['contacts', 'policies'], 'Takes mail from those it works with'],
        [`/mail/${slug}/attachments`, ['messages', 'next'], `message/${picture?.id}`],
        [`/mail/${slug}/activity?window=7d`, ['since', 'until', 'buckets', 'edges'], '<svg class="chart"'],
        [`/mail/${slug}/overseer/compose?to=BlueLake`, ['agents', 'preamble'], 'value="BlueLake" checked'],
        ['/mail/overseer/compose', ['agents'], `WhiteCliff@`],
      ]
      for (const [path, fields, shows] of pages) {
        const page = await ann.get(path)
        expect([path, page.status]).toEqual([path, 200])
        expect(page.text, path).toContain(shows)
        expect(strangeIn(page.text), path).toEqual([])
        expect(page.text.match(/<h1/g), path).toHaveLength(1)
        expect(page.headers.get('content-security-policy'), path).toMatch(/^default-src 'none'; script-src 'self';/)
        expect(page.headers.get('x-content-type-options')).toBe('nosniff')
        expect(page.headers.get('cache-control')).toBe('private, no-store')
        const data = await ann.data(path)
        for (const field of fields) expect(data, path).toHaveProperty(field)
        const asked = await ann.get(`${path}${path.includes('?') ? '&' : '?'}format=json`)
        expect(asked.headers.get('content-type')).toBe('application/json; charset=utf-8')
        expect(Object.keys(asked.json())).toEqual(Object.keys(data))
      }
      for (const path of [`/mail/${slug}/message/${plan?.id}`, `/mail/${slug}/thread/ORD-214`]) {
        const text = await ann.get(`${path}?format=md`)
        expect(text.headers.get('content-type')).toBe('text/plain; charset=utf-8')
        expect(text.text).toContain('From: GreenCastle')
        expect(text.text).toContain('The order tables move in **three steps**.')
      }
      expect((await ann.get(`/mail/${slug}/threads?format=md`)).status).toBe(400)
    })
  })

  verifies(
    ['web.pages.json', 'web.errors.missing', 'web.errors.parameter'],
    'name what is missing or wrong',
    async () => {
      await serving(open, seeded, async (ann) => {
        const slug = await slugOf(ann, 'backend')
        const missing = [
          '/mail/nowhere',
          `/mail/${slug}/inbox/Nobody`,
          `/mail/${slug}/thread/none`,
          `/mail/${slug}/message/999999`,
        ]
        for (const path of [
          ...missing,
          `/mail/${slug}/message/x`,
          `/mail/${slug}/nothing`,
          '/mail/a/b/c/d',
          `/mail/${slug}/attachments/../x`,
          '/mail/assets/0/style.css',
        ]) {
          const page = await ann.get(path)
          expect([path, page.status]).toEqual([path, 404])
          expect(page.text).toContain('href="/mail"')
          expect(page.headers.get('content-security-policy')).toBeTruthy()
          expect((await ann.get(path, { accept: 'application/json' })).json()).toMatchObject({
            error: { code: expect.stringMatching(/NOT_FOUND$/) },
          })
        }
        for (const [path, name] of [
          [`/mail/${slug}/inbox/GreenCastle?page=0`, 'page'],
          ['/mail?limit=9999', 'limit'],
          ['/mail?limit=1&limit=2', 'limit'],
          ['/mail?before=x', 'before'],
          [`/mail/${slug}/activity?window=2y`, 'window'],
          ['/mail/attention?view=all', 'view'],
          ['/mail?importance=huge', 'importance'],
          ['/mail/search?since=yesterday', 'since'],
        ] as const) {
          const page = await ann.get(path)
          expect([path, page.status]).toEqual([path, 400])
          expect(page.text).toContain(`&quot;${name}&quot;`)
        }
      })
    },
  )

  verifies(
    ['web.html.escaped', 'web.headers.csp', 'web.errors.harmless'],
    'show hostile content as text, in every place',
    async () => {
      await serving(open, seedHostile, async (ann) => {
        const slug = await slugOf(ann, 'script')
        const { messages } = await ann.data<{ messages: Message[] }>('/mail?limit=200')
        const { threads } = await ann.data<{ threads: { thread_id: string }[] }>(`/mail/${slug}/threads`)
        const part = encodeURIComponent
        const paths = [
          ...[
            '/mail',
            '/mail/unified-inbox',
            '/mail/projects',
            '/mail/attention?view=urgent',
            '/mail/overseer/compose',
          ],
          ...[
            '',
            '/threads',
            '/file_reservations',
            '/contacts',
            '/attachments',
            '/activity',
            '/overseer/compose',
            '/inbox/BlueLake',
          ].map((path) => `/mail/${slug}${path}`),
          ...messages.map(({ id }) => `/mail/${slug}/message/${id}`),
          ...threads.map(({ thread_id }) => `/mail/${slug}/thread/${part(thread_id)}`),
          ...['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>'].flatMap((text) => [
            `/mail/search?q=${part(text)}&from=${part(text)}`,
            `/mail/${part(text)}`,
            `/mail/${slug}/thread/${part(text)}`,
            `/mail/${slug}/overseer/compose?subject=${part(text)}&to=${part(text)}&thread_id=${part(text)}`,
          ]),
        ]
        expect(threads.length).toBeGreaterThan(8)
        for (const path of paths) {
          const page = await ann.get(path)
          expect([path, page.status < 500]).toEqual([path, true])
          expect(strangeIn(page.text), path).toEqual([])
          expect(page.text, path).not.toContain('\u202e')
          expect(page.headers.get('content-security-policy'), path).toContain("default-src 'none'")
        }
      })
    },
  )
})
