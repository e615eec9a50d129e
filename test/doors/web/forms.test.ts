/** The forms of the pages: what each does, how faults are shown, and who may send them. */
import { describe, expect } from 'vitest'
import { newDesk, plainMail } from '../../support/mail.ts'
import { serveHere, shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'
import { type Visitor, visitor } from '../../support/web.ts'

const parley = shareServer()

/** A project with three agents, as the pages call it, and a visitor who has seen one page. */
async function begin() {
  const desk = await newDesk(parley())
  const ann = visitor(parley().url)
  const { projects } = await ann.data<{ projects: { slug: string; human_key: string }[] }>('/mail/projects?limit=200')
  const slug = projects.find(({ human_key }) => human_key === desk.project)?.slug ?? ''
  await ann.get(`/mail/${slug}/overseer/compose`)
  return { desk, ann, slug }
}

/** Where a form that was done leads to. */
const leadsTo = async (sent: Promise<{ status: number; headers: Headers }>): Promise<string> => {
  const { status, headers } = await sent
  return `${status} ${headers.get('location') ?? ''}`
}

const composed = { recipients: ['BlueLake', 'RedStone'], subject: 'Stop', body_md: 'Wait **here**.' }

describe('Forms', () => {
  verifies('mail.recipient.unseen', 'the composer marks names that nobody has answered to', async () => {
    const { desk, ann, slug } = await begin()
    await desk.send({ to: ['BlueLak', 'RedStone'] })
    const { text } = await ann.get(`/mail/${slug}/overseer/compose`)
    expect(text.match(/<span>\w+<\/span><span class="badge"[^>]*>never active/g)).toEqual([
      expect.stringContaining('<span>BlueLak</span>'),
    ])
  })

  verifies(
    'web.forms.compose',
    'a message of the overseer: shown first, then sent, and again if something is wrong',
    async () => {
      const { desk, ann, slug } = await begin()
      const path = `/mail/${slug}/overseer/compose`
      const preview = await ann.post(path, { ...composed, action: 'preview' })
      expect(preview.status).toBe(200)
      expect(preview.text).toContain('MESSAGE FROM HUMAN OVERSEER')
      expect(preview.text).toContain('<strong>here</strong>')
      expect(await desk.inbox('BlueLake')).toEqual([])

      const faults: [wrong: Record<string, string | string[]>, field: string][] = [
        [{ subject: '' }, 'subject'],
        [{ body_md: ' ' }, 'body_md'],
        [{ recipients: [] }, 'recipients'],
        [{ recipients: ['Nobody'] }, 'recipients'],
        [{ thread_id: 'x'.repeat(129) }, 'thread_id'],
      ]
      for (const [wrong, field] of faults) {
        const shown = await ann.post(path, { thread_id: 'keep-me', ...composed, ...wrong })
        expect([shown.status, field]).toEqual([422, field])
        expect(shown.text).toMatch(field === 'thread_id' ? /x{129}/ : /keep-me/)
        if (field !== 'subject') expect(shown.text).toContain('value="Stop"')
        if (field !== 'body_md') expect(shown.text).toContain('Wait **here**.')
      }
      expect(await desk.inbox('BlueLake')).toEqual([])

      expect(await leadsTo(ann.post(path, composed))).toMatch(
        new RegExp(`^303 /mail/${slug}/message/\\d+\\?done=sent$`),
      )
      const [mail] = await desk.inbox('RedStone', { include_bodies: true })
      expect(mail).toMatchObject({ from: 'HumanOverseer', subject: 'Stop', importance: 'high' })
      expect(mail?.body_md).toMatch(/^---\n\n🚨 MESSAGE FROM HUMAN OVERSEER 🚨[\s\S]*Wait \*\*here\*\*\.$/)
    },
  )

  verifies('web.forms.steering', 'answers, receipts, contacts, reservations, reminders and links', async () => {
    const { desk, ann, slug } = await begin()
    const project_key = desk.project
    const sent = await desk.send({ thread_id: 'T-1', ack_required: true })
    expect(await leadsTo(ann.post(`/mail/${slug}/thread/T-1`, { body_md: 'go on' }))).toMatch(
      /^303 .*\/thread\/T-1\?done=answered#m-\d+$/,
    )
    expect((await desk.inbox('GreenCastle'))[0]).toMatchObject({ from: 'HumanOverseer', subject: 'Re: Plan' })
    expect((await ann.post(`/mail/${slug}/thread/T-1`, { body_md: '' })).status).toBe(422)
    expect((await ann.post(`/mail/${slug}/thread/T-2`, { body_md: 'x' })).status).toBe(404)

    expect(await leadsTo(ann.post('/mail/attention', { remind: String(sent.message_id) }))).toMatch(/done=reminded$/)
    expect(await leadsTo(ann.post('/mail/attention', { remind: String(sent.message_id) }))).toMatch(
      /done=reminded-before$/,
    )
    expect((await ann.post('/mail/attention', { remind: 'x' })).status).toBe(400)

    expect(await leadsTo(ann.post(`/mail/${slug}/inbox/BlueLake`, { read: [String(sent.message_id)] }))).toContain(
      `303 /mail/${slug}/inbox/BlueLake?done=read&undo=`,
    )
    expect((await ann.post(`/mail/${slug}/inbox/BlueLake`, {})).status).toBe(400)
    await ann.post(`/mail/${slug}/inbox/BlueLake`, { all: '1' })
    const { messages } = await ann.data<{ messages: { read_ts: string | null }[] }>(
      `/mail/${slug}/inbox/BlueLake?unread=1`,
    )
    expect(messages).toEqual([])

    await desk.door.call('request_contact', { project_key, from_agent: 'GreenCastle', to_agent: 'RedStone' })
    const asked = { from: 'GreenCastle', to: 'RedStone' }
    expect(await leadsTo(ann.post(`/mail/${slug}/contacts`, { ...asked, decision: 'approve' }))).toMatch(
      /done=approved$/,
    )
    expect((await ann.post(`/mail/${slug}/contacts`, { ...asked, decision: 'maybe' })).status).toBe(400)
    expect(
      (await ann.post(`/mail/${slug}/contacts`, { from: 'Nobody', to: 'RedStone', decision: 'deny' })).status,
    ).toBe(404)

    await desk.door.call('file_reservation_paths', { project_key, agent_name: 'BlueLake', paths: ['src/**'] })
    const { file_reservations } = await ann.data<{ file_reservations: { id: number }[] }>(
      `/mail/${slug}/file_reservations`,
    )
    const release = { release: String(file_reservations[0]?.id) }
    expect(await leadsTo(ann.post(`/mail/${slug}/file_reservations`, release))).toMatch(/done=released$/)
    expect((await desk.inbox('BlueLake'))[0]?.subject).toContain('src/**')

    // Two in each other's way stand together.
    for (const [agent_name, path] of [
      ['BlueLake', 'src/**'],
      ['GreenCastle', 'docs/**'],
      ['RedStone', 'src/a.ts'],
    ] as const)
      await desk.door.call('file_reservation_paths', { project_key, agent_name, paths: [path] })
    const leases = (await ann.get(`/mail/${slug}/file_reservations?state=active`)).text
    const patterns = [...leases.matchAll(/<tr id="lease-[^>]*><td[^>]* title="([^"]*)"/g)].map(([, pattern]) => pattern)
    expect(patterns).toEqual(['src/a.ts', 'src/**', 'docs/**'])
    expect(leases.match(/conflict<\/span> with /g)).toHaveLength(1)

    const other = await newDesk(parley(), plainMail(parley()))
    expect(await leadsTo(ann.post(`/mail/${slug}/related`, { other: other.project, decision: 'dismiss' }))).toBe(
      '303 /mail?done=dismissed#related',
    )
    expect((await ann.get('/mail?done=dismissed')).text).toContain('id="related"')
    expect((await ann.post(`/mail/${slug}/related`, { other: 'nowhere', decision: 'dismiss' })).status).toBe(404)
  })

  verifies('web.overseer.answers', 'answers to people are told on every page until they are marked read', async () => {
    const served = await serveHere({})
    const desk = await newDesk(served)
    const ann = visitor(served.url)
    const { projects } = await ann.data<{ projects: { slug: string; human_key: string }[] }>('/mail/projects')
    const slug = projects.find(({ human_key }) => human_key === desk.project)?.slug ?? ''
    const { message_id } = await desk.send({ to: ['HumanOverseer'], subject: 'Which one?' })
    const box = `/mail/${slug}/inbox/HumanOverseer`
    const shown = await ann.get(`/mail/${slug}/message/${message_id}`)
    expect(shown.text).toContain('<title>(1) Which one? · Parley</title>')
    expect(shown.text).toContain(`<a class="answers" href="${box}?unread=1">1<span class="words"> answer to you</span>`)
    expect((await ann.get(`${box}?unread=1`)).text).toContain('They no longer count as new.')
    const next = `/mail/${slug}/message/${message_id}`
    expect(await leadsTo(ann.post(box, { read: [String(message_id)], next }))).toContain(`303 ${next}?done=seen&undo=`)
    expect(await leadsTo(ann.post(box, { all: '1', next: 'https://evil.example/' }))).toBe('303 /mail?done=seen')
    const after = await ann.get(next)
    expect(after.text).toContain('<title>Which one? · Parley</title>')
    expect(after.text).not.toContain('class="answers"')
    expect(after.text).not.toContain('data-read')
    // Answers of several projects are found together.
    const other = await newDesk(served, plainMail(served))
    for (const one of [desk, other]) await one.send({ to: ['HumanOverseer'], subject: 'And now?' })
    expect((await ann.get('/mail')).text).toContain('href="/mail/search?to=HumanOverseer&amp;unread=1">2<')
    const { results } = await ann.data<{ results: { subject: string }[] }>('/mail/search?to=HumanOverseer&unread=1')
    expect(results.map(({ subject }) => subject)).toEqual(['And now?', 'And now?'])
    await served.stop()
  })

  verifies('web.forms.programs', 'JSON with the same fields needs the token, and answers the receipt', async () => {
    const served = await serveHere({
      env: { HTTP_BEARER_TOKEN: 'secret-token-of-the-test', HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: 'true' },
    })
    try {
      const desk = await newDesk(served)
      const look = visitor(served.url)
      const { projects } = await look.data<{ projects: { slug: string; human_key: string }[] }>('/mail/projects')
      const slug = projects.find(({ human_key }) => human_key === desk.project)?.slug ?? ''
      const post = (headers: Record<string, string>, body: object = composed) =>
        fetch(`${served.url}/mail/${slug}/overseer/compose`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        })
      expect((await post({})).status).toBe(403)
      const authorization = 'Bearer secret-token-of-the-test'
      const done = await post({ authorization })
      expect([done.status, await done.json()]).toEqual([
        200,
        {
          thread_id: null,
          sent: [{ project: slug, message_id: expect.any(Number), recipients: ['BlueLake', 'RedStone'] }],
          blocked: [],
        },
      ])
      const fault = await post({ authorization }, { ...composed, subject: '' })
      expect([fault.status, await fault.json()]).toMatchObject([400, { error: { code: 'INVALID_ARGUMENT' } }])
      // Without logging in, a form of this machine does nothing while there is a token.
      const local: Visitor = visitor(served.url)
      await local.get('/mail')
      expect((await local.post(`/mail/${slug}/overseer/compose`, composed)).status).toBe(403)
      expect(await desk.inbox('BlueLake')).toHaveLength(1)
    } finally {
      await served.stop()
    }
  })
})
