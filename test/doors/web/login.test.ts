/** Logging in at the pages, and forms that are not ours. */
import { describe, expect } from 'vitest'
import { parleyCommand } from '../../support/cli.ts'
import { serveHere, shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'
import { visitor } from '../../support/web.ts'

const token = 'a-token-for-the-operator'
const guarded = shareServer({ env: { HTTP_BEARER_TOKEN: token, HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: 'false' } })
const open = shareServer()

async function login(url: string, given: string, next = '/mail/projects') {
  const person = visitor(url)
  await person.get(`/mail/login?next=${encodeURIComponent(next)}`)
  return { person, answer: await person.post('/mail/login', { token: given, next }) }
}

describe('The login', () => {
  verifies('web.login.redirect', 'is where a browser without credentials lands; everyone else gets 401', async () => {
    const { url } = guarded()
    const shown = await visitor(url).get('/mail/projects?q=a')
    expect(shown.status).toBe(303)
    expect(shown.headers.get('location')).toBe('/mail/login?next=%2Fmail%2Fprojects%3Fq%3Da')
    const program = await visitor(url).get('/mail/projects', { accept: 'application/json' })
    expect(program.status).toBe(401)
    expect(program.json()).toMatchObject({ error: { code: 'UNAUTHENTICATED' } })
    expect((await visitor(url).get('/mail', { authorization: `Bearer ${token}` })).status).toBe(200)
    expect((await visitor(url).get('/mail', { authorization: 'Bearer wrong', accept: '*/*' })).status).toBe(401)
  })

  verifies('web.login.cookie', 'turns the token into a cookie that only our pages get back', async () => {
    const { url } = guarded()
    const { person, answer } = await login(url, token)
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toBe('/mail/projects')
    const line = answer.headers.getSetCookie().find((one) => one.startsWith('parley_session=')) ?? ''
    for (const part of ['HttpOnly', 'SameSite=Strict', 'Path=/mail']) expect(line).toContain(part)
    expect(line).not.toContain('Secure')
    expect((await person.get('/mail/projects')).status).toBe(200)
    expect((await person.get('/mail/projects')).text).toContain('Log out')
    const tls = visitor(url, { 'x-forwarded-proto': 'https' })
    await tls.get('/mail/login')
    expect((await tls.post('/mail/login', { token })).headers.getSetCookie().join()).toContain('; Secure')
  })

  verifies('web.login.cookie', 'is there while no token is set, and lets nobody in by an empty one', async () => {
    const { url } = open()
    expect((await visitor(url).get('/mail/login')).text).toContain('There is no token')
    for (const given of ['', 'x']) expect((await login(url, given)).answer.status).toBe(422)
  })

  verifies('web.login.cookie', 'does not take a cookie that was changed', async () => {
    const { url } = guarded()
    const { person } = await login(url, token)
    const [nonce, , mark] = (person.cookies.get('parley_session') ?? '').split('.')
    for (const forged of [`${nonce}.9999999999999.${mark}`, 'a.b.c', '..', ''])
      expect((await visitor(url).get('/mail', { cookie: `parley_session=${forged}`, accept: '*/*' })).status).toBe(401)
  })

  verifies('web.login.next', 'leads below /mail only', async () => {
    const { url } = guarded()
    for (const [next, leads] of [
      ['//evil.example', '/mail'],
      ['https://evil.example/mail', '/mail'],
      ['/mail/../agents', '/mail'],
      ['/mailbox', '/mail'],
      ['/mail\\evil', '/mail'],
      ['/mail/login', '/mail'],
      ['/mail/search?q=a b', '/mail/search?q=a%20b'],
    ] as const)
      expect((await login(url, token, next)).answer.headers.get('location')).toBe(leads)
  })

  verifies('web.login.tries', 'closes for a minute after ten wrong tries, also for the right token', async () => {
    const { url } = await serveHere({
      env: { HTTP_BEARER_TOKEN: token, HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: 'false' },
    })
    const person = visitor(url)
    await person.get('/mail/login')
    for (let n = 0; n < 10; n++) expect((await person.post('/mail/login', { token: `wrong ${n}` })).status).toBe(422)
    expect((await person.post('/mail/login', { token })).status).toBe(429)
  })

  verifies('web.login.void', 'ends with a logout, and with the token', async () => {
    const { url, storage } = guarded()
    const { person } = await login(url, token)
    const cookie = `parley_session=${person.cookies.get('parley_session')}`
    const kept = (await login(url, token)).person.cookies.get('parley_session')
    await person.get('/mail')
    const out = await person.post('/mail/logout', {})
    expect([out.status, out.headers.get('location')]).toEqual([303, '/mail/login'])
    expect((await visitor(url).get('/mail', { cookie, accept: '*/*' })).status).toBe(401)
    const other = await serveHere({
      storage,
      env: { HTTP_BEARER_TOKEN: 'another-operators-token', HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: 'false' },
    })
    for (const [at, status] of [
      [url, 200],
      [other.url, 401],
    ] as const)
      expect((await visitor(at).get('/mail', { cookie: `parley_session=${kept}`, accept: '*/*' })).status).toBe(status)
  })

  verifies('web.login.code', 'takes a code of the command line, once', async () => {
    const { url, storage } = guarded()
    const { stdout } = await parleyCommand({ storage }, ['login', '--json'])
    const { code } = JSON.parse(stdout) as { code: string }
    expect((await login(url, code)).answer.status).toBe(303)
    expect((await login(url, code)).answer.status).toBe(422)
    expect((await login(url, `${code.slice(0, -1)}x`)).answer.status).toBe(422)
  })
})

describe('A form', () => {
  verifies('web.csrf.forms', 'passes only with the proof of this visitor', async () => {
    const { url } = open()
    const [ann, eve] = [visitor(url), visitor(url)]
    await ann.get('/mail')
    await eve.get('/mail')
    expect((await ann.post('/mail/settings', { theme: 'dark' })).status).toBe(303)
    const foreign = /name="_csrf" value="([^"]+)"/.exec((await eve.get('/mail')).text)?.[1] ?? ''
    for (const _csrf of [foreign, '', 'x'])
      expect((await ann.post('/mail/settings', { theme: 'dark', _csrf })).status).toBe(403)
    expect((await visitor(url).post('/mail/settings', { theme: 'dark' })).status).toBe(403)
    const json = await fetch(`${url}/mail/settings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"theme":"dark"}',
    })
    expect(json.status).toBe(403)
  })

  verifies('web.csrf.forms', 'is bound to the login too', async () => {
    const { url } = guarded()
    const { person } = await login(url, token)
    const before = /name="_csrf" value="([^"]+)"/.exec((await visitor(url).get('/mail/login')).text)?.[1] ?? ''
    await person.get('/mail')
    expect((await person.post('/mail/settings', { theme: 'dark', _csrf: before })).status).toBe(403)
    expect((await person.post('/mail/settings', { theme: 'dark' })).status).toBe(303)
  })

  verifies('web.csrf.origin', 'of another origin is refused, whatever may call the doors of agents', async () => {
    const { url, port } = await serveHere({ env: { HTTP_ALLOWED_ORIGINS: 'https://friend.example' } })
    const ann = visitor(url)
    await ann.get('/mail')
    const form = (headers: Record<string, string>) => ann.post('/mail/settings', { theme: 'dark' }, headers)
    for (const origin of ['https://friend.example', 'https://evil.example', `http://127.0.0.1:${port + 1}`, 'null'])
      expect((await form({ origin })).status, origin).toBe(403)
    expect((await form({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await form({ 'sec-fetch-site': 'same-site' })).status).toBe(403)
    expect((await form({ origin: `http://localhost:${port}`, 'sec-fetch-site': 'same-origin' })).status).toBe(303)
    expect((await ann.get('/mail', { origin: 'https://friend.example' })).status).toBe(403)
  })

  verifies('web.settings.kept', 'keeps theme and shortcuts in cookies', async () => {
    const ann = visitor(open().url)
    expect((await ann.get('/mail')).text).toContain('data-theme="auto"')
    const set = await ann.post('/mail/settings', { theme: 'dark', shortcuts: 'off', next: '/mail/projects' })
    expect(set.headers.get('location')).toBe('/mail/projects')
    const { text } = await ann.get('/mail')
    expect(text).toContain('data-theme="dark"')
    expect(text).toContain('data-keys="off"')
    for (const fields of [{ theme: 'pink' }, { shortcuts: 'maybe' }])
      expect((await ann.post('/mail/settings', fields)).status).toBe(400)
  })

  verifies('web.who.local', 'is not shown to a local visitor while a token is set, until logged in', async () => {
    const { url } = await serveHere({ env: { HTTP_BEARER_TOKEN: token } })
    const ann = visitor(url)
    const shown = await ann.get('/mail/commons/overseer/compose')
    expect(shown.status).toBe(200)
    expect(shown.text).not.toContain('name="body_md"')
    expect(shown.text).toContain('/mail/login?next=')
    await ann.post('/mail/login', { token })
    expect((await ann.get('/mail')).text).toContain('/mail/overseer/compose')
  })
})
