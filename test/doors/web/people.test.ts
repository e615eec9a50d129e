/** Persons at the pages: what is new to each, the name that each has, and the searches that each keeps. */
import { describe, expect } from 'vitest'
import { parleyCommand } from '../../support/cli.ts'
import { newDesk } from '../../support/mail.ts'
import { serveHere, shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'
import { type Visitor, visitor } from '../../support/web.ts'

const parley = shareServer()

async function begin(at = parley()) {
  const desk = await newDesk(at)
  const ann = visitor(at.url)
  const { projects } = await ann.data<{ projects: { slug: string; human_key: string }[] }>('/mail/projects?limit=200')
  const slug = projects.find(({ human_key }) => human_key === desk.project)?.slug ?? ''
  await ann.get('/mail/unified-inbox')
  return { desk, ann, slug }
}

/** The number beside a project in the sidebar, and that in the title. */
async function numbers(person: Visitor, slug: string, path = '/mail/projects') {
  const { text } = await person.get(path)
  const side = new RegExp(`href="/mail/${slug}"[^>]*title="${slug}">.*?</a>`).exec(text)?.[0] ?? ''
  return {
    side: Number(/(\d+)\+? new to you/.exec(side)?.[1] ?? 0),
    title: Number(/<title>\((\d+)\+?\)/.exec(text)?.[1] ?? 0),
    text,
  }
}

describe('What is new to a person', () => {
  verifies(
    ['web.new.first', 'web.new.words'],
    'is the last day on a first visit, then what was not opened',
    async () => {
      const { desk, ann, slug } = await begin()
      const before = (await numbers(ann, slug)).title
      const { message_id } = await desk.send({ subject: 'Fresh', body_md: 'one', to: ['BlueLake', 'RedStone'] })
      const shown = await numbers(ann, slug, '/mail')
      // One message, though two agents got it.
      expect([shown.side, shown.title - before]).toEqual([1, 1])
      expect(shown.text).toMatch(new RegExp(`class="row new[^"]*" data-row id="r-${message_id}"`))
      expect(shown.text).toContain('2 agents have not read this')
      const thread = await ann.get(`/mail/${slug}/thread/${message_id}`)
      expect(thread.text).toMatch(/id="new"><span>New since <time/)
      const after = await numbers(ann, slug, '/mail')
      expect([after.side, after.title]).toEqual([0, before])
      expect(after.text).toContain(`class="row" data-row id="r-${message_id}"`)
      expect((await ann.get(`/mail/${slug}/thread/${message_id}`)).text).not.toContain('id="new"')
    },
  )

  verifies('web.new.own', 'is nobody else, ends with the visit, or when all is marked as seen', async () => {
    const { desk, ann, slug } = await begin()
    const bob = visitor(parley().url)
    await bob.get('/mail')
    const { message_id } = await desk.send({ subject: 'Both', body_md: 'one' })
    await ann.get(`/mail/${slug}/message/${message_id}`)
    expect([(await numbers(ann, slug)).side, (await numbers(bob, slug)).side]).toEqual([0, 1])
    expect((await bob.get('/mail/unified-inbox')).text).toContain('Mark all as seen')
    expect((await bob.post('/mail/seen', { next: '/mail/unified-inbox' })).status).toBe(303)
    expect(await numbers(bob, slug)).toMatchObject({ side: 0, title: 0 })
    await desk.send({ subject: 'Later', body_md: 'two' })
    const list = await bob.get('/mail/unified-inbox')
    expect((await numbers(bob, slug)).side).toBe(1)
    expect(list.text).toMatch(/class="since"><span>New since <time/)
    // A program that asks for data reads nothing away.
    await bob.data(`/mail/${slug}/thread/${message_id}`)
    expect((await numbers(bob, slug)).side).toBe(1)
  })

  verifies(['web.new.author', 'web.new.own'], 'is kept by name, and the name stands beside what was sent', async () => {
    const token = 'token-of-the-people'
    const server = await serveHere({ env: { HTTP_BEARER_TOKEN: token } })
    const desk = await newDesk(server)
    const named = async (name: string) => {
      const { stdout } = await parleyCommand({ storage: server.storage }, ['login', '--as', name, '--json'])
      const person = visitor(server.url)
      await person.get('/mail/login')
      await person.post('/mail/login', { token: JSON.parse(stdout).code })
      return person
    }
    const [ann, bob, again] = [await named('Ann'), await named('Bob'), await named('ann')]
    const { projects } = await ann.data<{ projects: { slug: string; human_key: string }[] }>('/mail/projects')
    const slug = projects.find(({ human_key }) => human_key === desk.project)?.slug ?? ''
    const sent = { recipients: ['BlueLake'], subject: 'Stop', body_md: 'Wait.' }
    for (const person of [ann, bob, again]) await person.get('/mail')
    expect((await ann.post(`/mail/${slug}/overseer/compose`, sent)).status).toBe(303)
    const mail = (await bob.get('/mail')).text
    expect(mail).toContain('<bdi class="author">Ann</bdi>')
    // Ann's own words are not new to Ann, in whatever browser.
    expect([
      (await numbers(ann, slug)).side,
      (await numbers(again, slug)).side,
      (await numbers(bob, slug)).side,
    ]).toEqual([0, 0, 1])
    const { message_id } = await desk.send({ subject: 'All', body_md: 'x' })
    await ann.get(`/mail/${slug}/message/${message_id}`)
    expect([(await numbers(again, slug)).side, (await numbers(bob, slug)).side]).toEqual([0, 2])
    const refused = await parleyCommand({ storage: server.storage }, ['login', '--as', ' '])
    expect([refused.code, refused.stderr]).toEqual([expect.any(Number), expect.stringContaining('--as')])
    await ann.get('/mail/search?q=plan')
    await ann.post('/mail/saved-searches', { save: '/mail/search?q=plan', title: 'plan' })
    expect((await again.get('/mail')).text).toContain('<a href="/mail/search?q=plan">')
    expect((await bob.get('/mail')).text).not.toContain('Saved searches')
  })

  verifies('web.search.saved', 'are searches only, and can be taken out again', async () => {
    const { ann } = await begin()
    const path = '/mail/search?q=%3Cb%3Eis%3Aunread'
    const page = (await ann.get(path)).text
    expect(page).toContain(`name="save" value="${path}"`)
    const saved = await ann.post('/mail/saved-searches', { save: path, title: '<b>is:unread' })
    expect(saved.headers.get('location')).toBe(path)
    const shown = (await ann.get(path)).text
    expect(shown).toContain('<span class="name">&lt;b&gt;is:unread</span>')
    expect(shown).toContain(`name="forget" value="${path}"`)
    await ann.post('/mail/saved-searches', { forget: path })
    expect((await ann.get('/mail')).text).not.toContain('Saved searches')
    for (const save of ['//evil.example/mail/search?q=a', '/mail/logout', '/mail/search', 'javascript:alert(1)'])
      expect((await ann.post('/mail/saved-searches', { save, title: 'x' })).status).toBe(400)
  })
})

describe('Search', () => {
  verifies(
    ['mail.search.filters', 'mail.search.unknown', 'mail.search.begins', 'mail.search.unread'],
    'speaks one language at the page, the tool and the command',
    async () => {
      const { desk, ann, slug } = await begin()
      const plain = await desk.send({ subject: 'Zebra one', body_md: 'the outbox drains', to: ['BlueLake'] })
      const asks = await desk.send({
        subject: 'Zebra two',
        body_md: 'now',
        importance: 'high',
        ack_required: true,
        to: ['RedStone'],
      })
      const ids = (results: readonly { id: number }[]) => results.map(({ id }) => id).sort((a, b) => a - b)
      const page = (q: string) =>
        ann.data<{ results: { id: number }[]; total: number; note?: string; suggestion?: string }>(
          `/mail/${slug}/search?q=${encodeURIComponent(q)}`,
        )
      const tool = (query: string, at = desk.door) =>
        at.callWhole<{ result: { id: number }[]; total: number; note?: string }>('search_messages', {
          project_key: desk.project,
          query,
        })
      const [a, b] = [plain.message_id, asks.message_id]
      for (const [q, expected] of [
        ['zebra', [a, b]],
        ['zebra importance:high', [b]],
        ['zebra -importance:high', [a]],
        ['zebra is:unacked', [b]],
        ['is:unacked', [b]],
        ['to:BlueLake', [a]],
        ['zebra to:RedStone', [b]],
        ['zebra has:attachment', []],
        ['zebra is:sealed', []],
        ['zebra type:message', [a, b]],
        ['zebra after:2020-01-01', [a, b]],
        ['zebra before:2020-01-01', []],
        ['is:unread zebra', [a, b]],
      ] as const) {
        const [onPage, byTool] = [await page(q), await tool(q)]
        expect([q, ids(onPage.results), ids(byTool.result)]).toEqual([q, expected, expected])
        expect([onPage.total, byTool.total]).toEqual([expected.length, expected.length])
      }
      for (const found of [await page('priority:zebra'), await tool('priority:zebra')])
        expect(found.note).toContain('priority: is no operator')
      expect((await page('outb')).suggestion).toBe('outb*')
      expect((await tool('outb')).note).toContain('Try: outb*')
      expect((await ann.get(`/mail/${slug}/search?q=outb`)).text).toContain('<b>outb*</b>')
      const shown = (await ann.get(`/mail/${slug}/search?q=zebra+importance:high`)).text
      expect(shown).toContain('1 message</p>')
      expect(shown).toContain('aria-label="Remove importance:high"')
      expect(shown).toContain(`>#${b}</a>`)
      const jump = await ann.data<{ places: { name: string; kind: string }[] }>('/mail/jump?q=zebra')
      expect(jump.places.map(({ name }) => name)).toEqual(['Zebra two', 'Zebra one', 'Search for zebra'])
      const acts = await ann.data<{ places: { name: string }[] }>('/mail/jump?q=release')
      expect(acts.places.map(({ name }) => name)).toContain('Release lease')
    },
  )
})
