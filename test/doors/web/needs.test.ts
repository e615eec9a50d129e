/** Lines of Needs you that are answered, resumed, retried or taken back, as a browser without scripts does. */
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { local } from '../../../src/core/access/callers.ts'
import { ensureAgent } from '../../../src/core/agents/agents.ts'
import { requestContact } from '../../../src/core/contact-requests/requests.ts'
import { reserve } from '../../../src/core/leases/leases.ts'
import { send } from '../../../src/core/messages/send.ts'
import { remark } from '../../../src/core/topics/remarks.ts'
import { createTopic } from '../../../src/core/topics/topics.ts'
import { TestClock } from '../../support/clock.ts'
import { eachEngine, type OpenDatabase } from '../../support/engines.ts'
import { openTestHub, registered } from '../../support/hub.ts'
import { asked } from '../../support/leases.ts'
import { serveHere } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'
import { strangeIn, type Visitor, visitor } from '../../support/web.ts'

const project = '/srv/needs'
const hostile = '<img src=x onerror=alert(1)>'

interface Needs {
  answers: { id: number }[]
  questions: { id: number; message_type: string; excerpt: string }[]
  contacts: { from: string }[]
  dead_letters: { recipient: string; message: { id: number; subject: string } }[]
}

/** A question that nobody answered, a paused thread, a dead letter, a request and an answer, all of half an hour ago. */
async function seeded(open: OpenDatabase) {
  const database = await open()
  const db = await database.connect()
  const clock = new TestClock()
  const hub = await openTestHub(db, { clock })
  clock.set(Date.now() - 1_800_000)
  for (const name of ['Ann', 'Bob']) await ensureAgent(hub, local, { project, name })
  const ann = registered('Ann', project)
  const topic = await createTopic(hub, local, project, { name: `plan ${hostile}`, mode: 'new' })
  await remark(hub, ann, { topic, outgoing: { body: `Which port? ${hostile}`, kind: 'question' } })
  await remark(hub, ann, { topic, outgoing: { body: 'done', kind: `x${hostile}` } })
  const { messageId } = await send(hub, ann, {
    to: [{ name: 'Bob' }],
    subject: `Dead ${hostile}`,
    body: 'b',
    thread: 'LOOP-1',
  })
  await requestContact(hub, ann, { to: { name: 'Bob' }, reason: hostile })
  const lease = { ...asked, ttlMs: 7_200_000, onConflict: 'grant' as const, reason: hostile }
  await reserve(hub, ann, { ...lease, patterns: [`src/${hostile}`] })
  await reserve(hub, registered('Bob', project), { ...lease, patterns: [`src/**`] })
  await send(hub, ann, { to: [{ name: 'Bob' }], subject: `Owed ${hostile}`, body: 'b', ackRequired: true })
  await send(hub, ann, { to: [{ name: 'HumanOverseer' }], subject: 'Which one?', body: 'left or right' })
  await db.tx(async (tx) => {
    await tx.change(
      sql`UPDATE deliveries SET ended = 'dead', read_at = ${clock.now()}, attempts = 5 WHERE message_id = ${messageId}`,
    )
    await tx.change(sql`UPDATE messages SET hops = 3 WHERE id = ${messageId}`)
    await tx.change(sql`
      INSERT INTO loop_threads (thread_id, from_seq, paused_at) SELECT thread_id, 0, ${clock.now()} FROM messages WHERE id = ${messageId}`)
  })
  await hub.close()
  const served = await serveHere({ env: { DATABASE_URL: database.url } })
  const visit = visitor(served.url)
  return {
    served,
    visit,
    messageId,
    needs: async () => await visit.data<{ needs: Needs; loops: unknown[] }>('/mail/attention'),
  }
}

/** Presses a button of a page: the form that has it, with its hidden fields. */
async function press(visit: Visitor, path: string, label: string, typed: Record<string, string> = {}): Promise<string> {
  const { text } = await visit.get(path)
  const form = [...text.matchAll(/<form method="post" action="([^"]+)">([\s\S]*?)<\/form>/g)].find(([, , inside]) =>
    inside?.includes(`>${label}</button>`),
  )
  if (form === undefined) throw new Error(`${path} has no ${label}`)
  const [, action = '', inside = ''] = form
  const plain = (value = '') =>
    value
      .replaceAll('&amp;', '&')
      .replaceAll('&quot;', '"')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&#39;', "'")
  const fields: Record<string, string> = { ...typed }
  for (const [, name = '', value] of inside.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g))
    fields[name] = plain(value)
  const button = new RegExp(`<button[^>]*? name="([^"]+)" value="([^"]*)"[^>]*>${label}<`).exec(inside)
  if (button?.[1] !== undefined) fields[button[1]] = plain(button[2])
  const { status, headers, text: said } = await visit.post(plain(action), fields)
  if (status !== 303) throw new Error(`${label}: ${status} ${said.slice(0, 300)}`)
  return headers.get('location') ?? ''
}

eachEngine('Needs you', (open) => {
  verifies(
    ['web.needs.questions', 'web.needs.acts', 'web.html.escaped'],
    'a question is answered from its line',
    async () => {
      const { served, visit, needs } = await seeded(open)
      const [question] = (await needs()).needs.questions
      expect(question).toMatchObject({ message_type: 'question', excerpt: expect.stringContaining('Which port?') })
      const page = await visit.get('/mail/attention')
      expect(strangeIn(page.text)).toEqual([])
      expect(page.text).toContain('>question</span>')
      // A notification leads to the line on the page.
      const { lines } = await visit.data<{ lines: { id: string }[] }>('/mail/attention')
      expect(new Set(lines.map(({ id }) => id.split('-')[0]))).toEqual(
        new Set(['answer', 'lease', 'contact', 'question', 'ack', 'thread', 'dead']),
      )
      expect(lines.map(({ id }) => id).filter((id) => !page.text.includes(`id="need-${id}"`))).toEqual([])
      const back = await press(visit, '/mail/attention', 'Send', { body_md: 'Port 80.' })
      expect(back).toBe('/mail/attention?done=answered')
      expect((await needs()).needs.questions).toEqual([])
      const { needs: list } = await needs()
      expect(list.answers).toHaveLength(1)
      const { projects } = await visit.data<{ projects: { slug: string }[] }>('/mail/projects?q=needs')
      const slug = projects[0]?.slug ?? ''
      const { threads } = await visit.data<{ threads: { thread_id: string }[] }>(`/mail/${slug}/threads?kind=topic`)
      expect(threads).toHaveLength(1)
      for (const { thread_id } of threads) {
        const { text } = await visit.get(`/mail/${slug}/thread/${thread_id}`)
        expect(strangeIn(text)).toEqual([])
        expect(text).toContain('<span class="badge type">answer</span>')
      }
      await served.stop()
    },
  )

  verifies(
    ['web.needs.undo', 'web.needs.listed', 'web.steering.told'],
    'lines act, and what can be taken back is',
    async () => {
      const { served, visit, messageId, needs } = await seeded(open)
      const before = await needs()
      expect([before.loops.length, before.needs.dead_letters.length, before.needs.contacts.length]).toEqual([1, 1, 1])
      expect(before.needs.dead_letters[0]).toMatchObject({ message: { id: messageId } })
      for (const [label, count] of [
        ['Resume', (all: Awaited<ReturnType<typeof needs>>) => all.loops.length],
        ['Drop', (all: Awaited<ReturnType<typeof needs>>) => all.needs.dead_letters.length],
        ['Deny', (all: Awaited<ReturnType<typeof needs>>) => all.needs.contacts.length],
        ['Mark read', (all: Awaited<ReturnType<typeof needs>>) => all.needs.answers.length],
      ] as const) {
        const told = await press(visit, '/mail/attention', label)
        expect([label, count(await needs())]).toEqual([label, 0])
        expect(await press(visit, told, 'Undo')).toBe('/mail/attention?done=undone')
        expect([label, count(await needs())]).toEqual([label, 1])
      }
      expect(await press(visit, '/mail/attention', 'Retry')).toBe('/mail/attention?done=retried')
      expect((await needs()).needs.dead_letters).toEqual([])
      // An approval is asked once, on its line.
      const { text } = await visit.get('/mail/attention')
      expect(text).not.toContain('Approve now')
      const ask = /href="([^"]*confirm=contact-[^"#]*)/.exec(text)?.[1] ?? ''
      expect((await visit.get(ask)).text).toMatch(/may write to <b>Bob<\/b> from then on/)
      expect(await press(visit, ask, 'Approve now')).toBe('/mail/attention?done=approved')
      expect((await needs()).needs.contacts).toEqual([])
      for (const undone of ['', '{', '[1]', '["x"]'])
        expect((await visit.post('/mail/undo', { done: 'dropped', of: undone })).status).toBe(400)
      expect((await visit.post('/mail/undo', { done: 'sent', of: '["1"]' })).status).toBe(400)
      await served.stop()
    },
  )
})
