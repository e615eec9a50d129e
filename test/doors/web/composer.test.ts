/** The composer among 2,000 agents, the activity of some and of many, and times in the zone of the visitor. */
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { local } from '../../../src/core/access/callers.ts'
import { register } from '../../../src/core/agents/registration.ts'
import { send } from '../../../src/core/messages/send.ts'
import { seedBoard } from '../../support/board.ts'
import { TestClock } from '../../support/clock.ts'
import { eachEngine, type OpenDatabase } from '../../support/engines.ts'
import { openTestHub, registered } from '../../support/hub.ts'
import { serveHere } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'
import { strangeIn, visitor } from '../../support/web.ts'

const crowd = '/srv/crowd'
const hostile = '<script>alert(1)</script>'

async function serving(open: OpenDatabase) {
  const database = await open()
  const db = await database.connect()
  const clock = new TestClock()
  const hub = await openTestHub(db, { clock })
  await seedBoard(hub, clock, Date.now())
  await register(hub, local, { project: crowd, name: 'GreenCastle', task: hostile, roles: ['reviewer'] })
  await register(hub, local, { project: crowd, name: 'BlueLake', roles: ['reviewer'] })
  const [row] = await db.all<{ project_id: number }>(sql`SELECT project_id FROM agents WHERE name = 'GreenCastle'`)
  await db.tx((tx) =>
    tx.all(sql`
      INSERT INTO agents (project_id, name, name_key, created_at, active_at)
      SELECT ${row?.project_id ?? 0}, 'Member' || i, 'member' || i, 0, 1
      FROM (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT i FROM n) AS numbers`),
  )
  for (let n = 1; n <= 45; n++)
    await send(hub, registered('GreenCastle', crowd), { to: [{ name: `Member${n}` }], subject: 'hi', body: 'b' })
  await hub.close()
  const served = await serveHere({ env: { DATABASE_URL: database.url } })
  const ann = visitor(served.url)
  const { projects } = await ann.data<{ projects: { slug: string }[] }>('/mail/projects')
  const slugOf = (name: string) => projects.find(({ slug }) => slug.includes(name))?.slug ?? ''
  return { served, ann, slug: slugOf('crowd'), payments: slugOf('payments') }
}

eachEngine('The composer', (open) => {
  verifies('web.compose.groups', 'filters 2,000 agents, keeps the chosen ones, and writes to groups', async () => {
    const { served, ann, slug, payments } = await serving(open)
    for (const path of ['/mail/overseer/compose', `/mail/${slug}/overseer/compose`]) {
      const { text } = await ann.get(path)
      expect(strangeIn(text)).toEqual([])
      expect(text.match(/<[a-z]/g)?.length ?? 0).toBeLessThan(1500)
      expect(text).toMatch(/100 of 20\d\d agents/)
    }
    const path = `/mail/${slug}/overseer/compose`
    const found = await ann.post(path, {
      action: 'filter',
      q: 'member1999',
      recipients: ['BlueLake'],
      body_md: 'half typed',
      subject: '',
    })
    expect(found.status).toBe(200)
    expect(found.text).toContain('value="Member1999"')
    expect(found.text).toContain('value="BlueLake" checked')
    expect(found.text).not.toContain('value="Member1998"')
    expect(found.text).toContain('half typed')
    expect(found.text).toContain('value="role:reviewer"')

    const sent = await ann.post(path, { recipients: ['role:reviewer'], subject: 'Stop', body_md: 'Wait.' })
    const message = await ann.data<{ to: string[] }>(sent.headers.get('location')?.split('?')[0] ?? '')
    expect(message.to).toEqual(expect.arrayContaining(['GreenCastle', 'BlueLake']))
    const stuck = await ann.post('/mail/overseer/compose', {
      recipients: ['all:stuck'],
      subject: 'You',
      body_md: 'Go on.',
    })
    expect(stuck.headers.get('location')).toMatch(new RegExp(`^/mail/${payments}/message/`))
    expect((await ann.post(path, { recipients: ['role:nobody'], subject: 'x', body_md: 'y' })).status).toBe(422)
    await served.stop()
  })

  verifies(
    ['web.looks.timeline', 'web.looks.graph', 'web.times.zone'],
    'shows activity on one axis, and times where the person is',
    async () => {
      const { served, ann, slug, payments } = await serving(open)
      const few = (await ann.get(`/mail/${payments}/activity`)).text
      expect(strangeIn(few)).toEqual([])
      expect(few).toContain('marker-end="url(#tip)"')
      expect(few).toMatch(/<b>now<\/b>/)
      const [bar = ''] = /\/search\?since=[^"]+order=time/.exec(few) ?? []
      const hits = await ann.data<{ results: object[] }>(`/mail/${payments}${bar.replaceAll('&amp;', '&')}`)
      expect(hits.results.length).toBeGreaterThan(0)
      const many = (await ann.get(`/mail/${slug}/activity`)).text
      expect(many).toContain('<table class="matrix">')
      expect(strangeIn(many)).toEqual([])
      for (const [zone, shown] of [
        ['Asia%2FTokyo', 'Asia/Tokyo'],
        ['Nowhere%2FLand', 'UTC'],
        ['%E0%A4%A', 'UTC'],
        ['"><b>', 'UTC'],
      ]) {
        const { text } = await ann.get('/mail', { cookie: `parley_zone=${zone}` })
        expect(text).toMatch(new RegExp(`title="\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d ${shown}"`))
      }
      const { lines } = await ann.data<{ lines: { id: string; text: string }[] }>('/mail/attention')
      expect(await ann.data('/mail/attention?lines=1')).toEqual({ lines })
      expect(lines.map(({ text }) => text)).toContain(
        'EmeraldFern wants src/ledger/rounding.ts, which CopperHeron holds',
      )
      await served.stop()
    },
  )
})
