/** HTTP_PUBLIC_URL, and invitations on the pages, whose links carry it. */
import { request } from 'node:http'
import { describe, expect } from 'vitest'
import { type Served, serveHere, shareServer } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'
import { strangeIn, visitor } from '../support/web.ts'

const publicUrl = 'https://parley.example'
const parley = shareServer({ env: { HTTP_PUBLIC_URL: publicUrl } })

/** `fetch` sets `Host` itself. */
const ask = ({ port }: Served, path: string, headers: Record<string, string>) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    request({ port, path, headers }, async (response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve({ status: response.statusCode ?? 0, text })
    })
      .on('error', reject)
      .end()
  })

const join = (server: Served, agent: string, code: string) =>
  fetch(`${server.url}/join`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agent, code }),
  })

describe('HTTP_PUBLIC_URL', () => {
  verifies(['serve.public.shown', 'serve.public.missing'], 'is what is shown, and is missed', async () => {
    expect((await (await fetch(`${parley().url}/docs`)).text()).includes(`PARLEY=${publicUrl}\n`)).toBe(true)
    expect(await (await fetch(`${parley().url}/openapi.json`)).json()).toMatchObject({ servers: [{ url: publicUrl }] })
    const pages = visitor(parley().url)
    expect((await pages.get('/mail')).text).toContain(`--transport http parley ${publicUrl}/mcp`)
    const named = await serveHere({ env: { HTTP_PUBLIC_URL: publicUrl } })
    expect(named.banner).toContain(`is ready at ${named.url} (for others: ${publicUrl})\n`)
    for (const line of [`pages     ${publicUrl}/mail`, `mail      ${publicUrl}/mcp`, 'parley invite NAME'])
      expect(named.banner).toContain(line)
    expect(named.banner).not.toContain('set HTTP_PUBLIC_URL')
    const nameless = await serveHere({ env: { HTTP_HOST: '0.0.0.0' } })
    expect(nameless.banner).toMatch(/403 by any name: set HTTP_PUBLIC_URL/)
  })

  verifies('serve.public.hosts', 'lets its own host and origin in, and is named to others', async () => {
    const key = { authorization: 'Bearer wrong' }
    expect((await ask(parley(), '/inbox', { host: 'parley.example', ...key })).status).toBe(401)
    const proxied = { host: '127.0.0.1', origin: publicUrl, ...key }
    expect((await ask(parley(), '/inbox', proxied)).status).toBe(401)
    const foreign = await ask(parley(), '/inbox', { host: 'other.example', ...key })
    expect(foreign).toMatchObject({ status: 403, text: expect.stringContaining('HTTP_PUBLIC_URL=https://') })
  })
})

describe('Invitations on the pages', () => {
  verifies('web.forms.invitations', 'are shown once, listed, used and revoked', async () => {
    const people = visitor(parley().url)
    expect((await people.get('/mail')).text).toContain('href="/mail/invitations"')
    expect((await people.get('/mail/invitations')).text).toContain('No open invitation')
    const made = await people.post('/mail/invitations', { name: 'bob', project: 'commons', expires: '24h' })
    const [, code = ''] =
      /npx parley-hub join https:\/\/parley\.example\/join\/bob-([0-9a-z]{25})/.exec(made.text) ?? []
    expect([made.status, code.length, made.headers.get('cache-control')]).toEqual([200, 25, 'private, no-store'])
    expect(strangeIn(made.text)).toEqual([])
    const listed = await people.get('/mail/invitations')
    expect(listed.text).toContain('Revoke the invitation of bob')
    expect(listed.text).not.toContain(code)
    expect(await people.data('/mail/invitations')).toMatchObject({
      invitations: [{ agent: 'bob', project: 'commons', door: 'mailbox' }],
    })
    expect((await join(parley(), 'bob', code)).status).toBe(201)
    expect(await people.data('/mail/invitations')).toMatchObject({ invitations: [] })

    const again = await people.post('/mail/invitations', { name: 'bob', project: 'commons', expires: '7d' })
    expect([again.status, again.text.includes('bob has a key already.')]).toEqual([422, true])
    const faults: [Record<string, string>, RegExp][] = [
      [{ name: 'no name' }, /id="name-fault"/],
      [{ project: 'nowhere' }, /id="project-fault"/],
      [{ expires: '31d' }, /id="expires-fault"/],
    ]
    for (const [wrong, shown] of faults) {
      const refused = await people.post('/mail/invitations', { name: 'carol', expires: '1h', ...wrong })
      expect([refused.status, refused.text]).toEqual([422, expect.stringMatching(shown)])
    }

    const carol = await people.post('/mail/invitations', { name: 'carol', door: 'hub', expires: '1h' })
    const [, other = ''] = /\/join\/carol-([0-9a-z]{25})/.exec(carol.text) ?? []
    const revoked = await people.post('/mail/invitations', { revoke: 'carol', project: 'commons' })
    expect([revoked.status, revoked.headers.get('location')]).toEqual([303, '/mail/invitations?done=revoked'])
    expect((await join(parley(), 'carol', other)).status).toBe(404)
  })

  verifies('web.forms.invitations', 'are for people: an agent makes none, a program brings the token', async () => {
    const token = 'the-token-of-the-operator'
    const guarded = await serveHere({ env: { HTTP_BEARER_TOKEN: token } })
    const post = async (headers: Record<string, string>) => {
      const answer = await fetch(`${guarded.url}/mail/invitations`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
        body: JSON.stringify({ name: 'dora' }),
      })
      return { status: answer.status, body: await answer.json() }
    }
    expect(await post({})).toMatchObject({ status: 403 })
    expect(await post({ authorization: `Bearer ${token}` })).toMatchObject({
      status: 200,
      body: { agent: 'dora', project: 'commons', link: expect.stringContaining('/join/dora-') },
    })
    const { text } = await visitor(guarded.url).get('/mail/invitations')
    expect(text).toContain('Only people invite')
    expect(text).not.toContain('<button class="primary">Invite')
  })
})
