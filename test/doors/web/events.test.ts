/** The event stream of the pages: what it tells, to whom, and how it ends. */
import { get, type IncomingMessage } from 'node:http'
import { describe, expect, onTestFinished } from 'vitest'
import { newDesk } from '../../support/mail.ts'
import { serveHere, shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'
import { visitor } from '../../support/web.ts'

const parley = shareServer()

interface Event {
  id: number
  data: { kind: string; project: string | null; thread_id: string | null; message_id: number | null }
}

/** An open stream: the events so far, and its response. */
async function listen(url: string, path: string, headers: Record<string, string> = {}) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = get(`${url}${path}`, { headers: { accept: 'text/event-stream', ...headers } }, resolve)
    request.on('error', reject)
    onTestFinished(() => void request.destroy())
  })
  let text = ''
  response.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  response.on('error', () => {})
  const events = (): Event[] =>
    [...text.matchAll(/event: change\nid: (\d+)\ndata: (.*)\n\n/g)].map(([, id, data = '']) => ({
      id: Number(id),
      data: JSON.parse(data),
    }))
  await expect.poll(() => response.statusCode !== 200 || text.includes(': connected')).toBe(true)
  return { response, events, text: () => text }
}

async function begin(at: { url: string } = parley()) {
  const desk = await newDesk(at)
  const { projects } = await visitor(at.url).data<{ projects: { slug: string; human_key: string }[] }>(
    '/mail/projects?limit=200',
  )
  return { desk, slug: projects.find(({ human_key }) => human_key === desk.project)?.slug ?? '' }
}

describe('The event stream', () => {
  verifies('web.events.hints', 'tells where something changed, and nothing of what was written', async () => {
    const { url } = parley()
    const { desk, slug } = await begin()
    const other = await begin()
    const all = await listen(url, '/mail/events')
    const here = await listen(url, `/mail/events?project=${slug}`)
    const elsewhere = await listen(url, `/mail/events?project=${other.slug}`)
    const inbox = await listen(url, `/mail/events?project=${slug}&agent=BlueLake`)
    const stone = await listen(url, `/mail/events?project=${slug}&agent=RedStone`)
    const sent = await desk.send({ thread_id: 'T-1', subject: 'pineapple', body_md: 'pineapple' })
    const told = { data: { kind: 'message.sent', project: slug, thread_id: 'T-1', message_id: sent.message_id } }
    for (const stream of [all, here, inbox]) await expect.poll(() => stream.events()).toMatchObject([told])
    const thread = await listen(url, `/mail/events?project=${slug}&thread=T-1`)
    await desk.send({ thread_id: 'T-2' })
    await desk.reply(sent.message_id, 'BlueLake')
    await expect.poll(() => thread.events()).toMatchObject([{ data: { kind: 'message.sent', thread_id: 'T-1' } }])
    expect([elsewhere.events(), stone.events()]).toEqual([[], []])
    expect(all.text() + here.text()).not.toContain('pineapple')
    expect(here.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
    })
  })

  verifies('web.events.resume', 'goes on after the last event that a page got', async () => {
    const { url } = parley()
    const { desk, slug } = await begin()
    const path = `/mail/events?project=${slug}`
    const first = await listen(url, path)
    await desk.send()
    await expect.poll(() => first.events().length).toBe(1)
    const id = first.events()[0]?.id ?? 0
    first.response.destroy()
    const missed = await desk.send()
    const again = await listen(url, path, { 'last-event-id': String(id) })
    await expect.poll(() => again.events()).toMatchObject([{ data: { message_id: missed.message_id } }])
    expect((await listen(url, path, { 'last-event-id': String(again.events()[0]?.id) })).events()).toEqual([])
  })

  verifies('web.events.gapless', 'tells what came after its page was read', async () => {
    const { url } = parley()
    const { desk, slug } = await begin()
    const page = await (await fetch(`${url}/mail/${slug}`, { headers: { accept: 'text/html' } })).text()
    const path = /data-events="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? ''
    expect((await listen(url, path)).events()).toEqual([])
    const { message_id } = await desk.send()
    const late = await listen(url, path)
    await expect.poll(() => late.events()).toMatchObject([{ data: { message_id } }])
    expect((await listen(url, path.replace(/since=[^&]*/, 'since=yesterday'))).events()).toEqual([])
  })

  verifies('web.events.refused', 'is not for other sites, nor for what is not there', async () => {
    const { url } = parley()
    const status = async (path: string, headers: Record<string, string> = {}) =>
      (await listen(url, path, headers)).response.statusCode
    expect(await status('/mail/events', { origin: 'https://evil.example' })).toBe(403)
    expect(await status('/mail/events', { 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await status('/mail/events?project=nowhere')).toBe(404)
    const { slug } = await begin()
    expect(await status(`/mail/events?project=${slug}&thread=none`)).toBe(404)
    expect(await status(`/mail/events?project=${slug}&agent=None`)).toBe(404)
  })

  verifies('web.events.stop', 'ends with the server, however many are open', async () => {
    const served = await serveHere({})
    const streams = await Promise.all(Array.from({ length: 50 }, () => listen(served.url, '/mail/events')))
    const ends = streams.map(({ response }) => new Promise((resolve) => response.on('close', resolve)))
    const began = performance.now()
    await served.stop()
    await Promise.all(ends)
    expect(performance.now() - began).toBeLessThan(5000)
  })
})
