/** Signed tokens with a shared secret: whom they let in, as whom, and which are refused. */
import { describe, expect } from 'vitest'
import { signShared, unsigned } from '../support/authority.ts'
import { printedBy } from '../support/cli.ts'
import { callTool, mailbox, serveHere, share } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'
import { ask, checkMail, openSession, pingSession } from '../support/wire.ts'

const secret = 'a secret of more than thirty-two bytes'
const operators = 'the-operators-token'
const seconds = () => Math.floor(Date.now() / 1000)
const sign = (claims: Record<string, unknown>, alg?: string) => signShared(secret, claims, alg)
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
const writer = { sub: 'someone', role: 'writer' }

const env = {
  HTTP_JWT_ENABLED: 'true',
  HTTP_WRONG_KEYS_PER_MINUTE: '0',
  HTTP_JWT_SECRET: secret,
  HTTP_JWT_ISSUER: 'https://issuer.example',
  HTTP_JWT_AUDIENCE: 'parley',
  HTTP_BEARER_TOKEN: operators,
}
const good = { iss: 'https://issuer.example', aud: 'parley' }

const parley = share((later) => serveHere({ env, later }))
const statusWith = async (headers: Record<string, string>) => (await ask(parley(), checkMail('alice', headers))).status

/** Every door, each with a tool that only reads where it has one. */
const doors = () => {
  const { url } = parley()
  return { mail: `${url}/mcp`, mailbox: `${url}/agents/alice/mcp`, bus: `${url}/bus/mcp` }
}

describe('A signed token', () => {
  verifies('all.token.taken', 'lets its owner in at every door', async () => {
    const headers = bearer(await sign({ ...good, ...writer }))
    for (const [door, tool] of [
      ['mail', 'health_check'],
      ['mailbox', 'check_mail'],
      ['bus', 'ping'],
    ] as const)
      expect((await callTool(doors()[door], tool, {}, { headers })).isError, door).toBeFalsy()
    expect((await ask(parley(), { path: '/metrics', headers })).status).toBe(200)
  })

  verifies('all.token.beside', 'is one way in among others', async () => {
    expect(await statusWith(bearer(operators))).toBe(200)
    expect(await statusWith(bearer(await sign({ ...good, ...writer })))).toBe(200)
    expect(await statusWith({})).toBe(200)
    await mailbox(parley(), 'keyed').check()
    const { key } = JSON.parse(await printedBy(parley(), ['keys', 'create', 'keyed', '--json']))
    expect((await ask(parley(), checkMail('keyed', bearer(key)))).status).toBe(200)
    expect((await ask(parley(), checkMail('keyed', { 'X-API-Key': key }))).status).toBe(200)
  })

  const refusals: Record<string, () => Promise<string> | string> = {
    'without exp': () => sign({ ...good, ...writer, exp: undefined }),
    'that has expired': () => sign({ ...good, ...writer, exp: seconds() - 61 }),
    'that is not good yet': () => sign({ ...good, ...writer, nbf: seconds() + 120 }),
    'of another issuer': () => sign({ ...good, ...writer, iss: 'https://other.example' }),
    'without an issuer': () => sign({ aud: 'parley', ...writer }),
    'for another audience': () => sign({ ...good, ...writer, aud: 'https://other.example' }),
    'without an audience': () => sign({ iss: good.iss, ...writer }),
    'by another algorithm': () => sign({ ...good, ...writer }, 'HS512'),
    'with a subject that is no text': () => sign({ ...good, role: 'writer', sub: 7 as never }),
    'signed with another secret': () => signShared('another secret of thirty-two bytes!', { ...good, ...writer }),
    'with alg none': () => unsigned({ alg: 'none' }, { ...good, ...writer, exp: seconds() + 600 }),
    'with alg None and a signature': () => unsigned({ alg: 'None' }, { ...good, ...writer, exp: seconds() + 600 }, 'x'),
    'without a signature': () => unsigned({ alg: 'HS256' }, { ...good, ...writer, exp: seconds() + 600 }),
    'that asks for an extension': () =>
      unsigned({ alg: 'HS256', crit: ['b64'], b64: false }, { ...good, ...writer, exp: seconds() + 600 }, 'x'),
    'with a key of its own': () =>
      unsigned(
        { alg: 'HS256', jwk: { kty: 'oct', k: 'eA' }, jku: 'http://127.0.0.1:1/keys' },
        { ...good, ...writer, exp: seconds() + 600 },
        'x',
      ),
    'whose claims were changed': async () => {
      const [header, , signature] = (await sign({ ...good, sub: 'x', role: 'reader' })).split('.')
      const claims = { ...good, ...writer, exp: seconds() + 600 }
      return `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`
    },
    'with claims that are no object': () => unsigned({ alg: 'HS256' }, ['x'], 'x'),
    'that is three dots': () => 'a..',
  }
  for (const [what, make] of Object.entries(refusals))
    verifies(['all.token.claims', 'all.token.forged', 'all.token.challenge'], `${what} is 401`, async () => {
      const headers = bearer(await make())
      const doors = ['/agents/alice/mcp', '/mcp', '/bus/mcp', '/hub/mcp', '/hub/mcp?agent=alice']
      const posts = doors.map((path) => ({ ...checkMail('alice', headers), path }))
      for (const request of [...posts, { path: '/inbox', headers }, { path: '/metrics', headers }]) {
        const answer = await ask(parley(), request)
        expect(answer.status).toBe(401)
        expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"')
        expect(answer.text).toContain('UNAUTHENTICATED')
      }
    })

  verifies('all.token.claims', 'passes with the clocks a minute apart', async () => {
    expect(await statusWith(bearer(await sign({ ...good, ...writer, exp: seconds() - 50 })))).toBe(200)
    expect(await statusWith(bearer(await sign({ ...good, ...writer, nbf: seconds() + 50 })))).toBe(200)
    expect(await statusWith(bearer(await sign({ ...good, ...writer, aud: ['other', 'parley'] })))).toBe(200)
  })

  verifies('all.token.challenge', 'that is missing is asked for without naming an error', async () => {
    const answer = await ask(parley(), checkMail('alice', { 'X-Forwarded-For': '203.0.113.9' }))
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer'])
  })

  verifies('all.token.header', 'counts in Authorization and nowhere else', async () => {
    const token = await sign({ ...good, ...writer })
    const far = { 'X-Forwarded-For': '203.0.113.9' }
    for (const name of ['access_token', 'token', 'api_key', 'authorization', 'bearer']) {
      const request = checkMail('alice', far)
      expect((await ask(parley(), { ...request, path: `${request.path}?${name}=${token}` })).status).toBe(401)
    }
    expect(await statusWith({ ...far, 'X-API-Key': token })).toBe(401)
    expect(await statusWith({ ...far, Cookie: `token=${token}` })).toBe(401)
    expect(await statusWith({ ...far, Authorization: token })).toBe(401)
    expect(await statusWith({ ...far, Authorization: `DPoP ${token}` })).toBe(401)
    expect(await statusWith({ ...far, ...bearer(token) })).toBe(200)
  })
})

describe('The claim agent', () => {
  const as = async (agent: string, more: object = {}) =>
    bearer(await sign({ ...good, sub: 'owner', role: 'writer', agent, ...more }))

  verifies('all.token.agent', 'binds the token to that agent at every door', async () => {
    const headers = await as('Carla')
    const carla = mailbox(parley(), 'Carla', { headers })
    await carla.send('bound-reader', 'hello')
    expect(await mailbox(parley(), 'carla', { headers }).check()).toBeNull()
    await expect(mailbox(parley(), 'nobody', { headers }).check()).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' })
    await expect(mailbox(parley(), 'bound-reader', { headers }).check()).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const joined = await callTool(`${doors().bus}?agent=bound-reader`, 'topic_create', { name: 't' }, { headers })
    const { topic_id } = joined.structuredContent as { topic_id: string }
    const join = (agent_name: string) =>
      callTool(`${doors().bus}?agent=${agent_name}`, 'topic_join', { topic_id, agent_name }, { headers })
    expect((await join('bound-reader')).structuredContent).toMatchObject({ error: { code: 'FORBIDDEN' } })
    expect((await join('Carla')).structuredContent).toMatchObject({ agent_name: 'Carla' })
    const inbox = (agent_name: string) =>
      callTool(doors().mail, 'fetch_inbox', { project_key: 'commons', agent_name }, { headers })
    expect((await inbox('bound-reader')).structuredContent).toMatchObject({ error: { code: 'FORBIDDEN' } })
    expect((await inbox('Carla')).isError).toBeFalsy()
  })

  verifies('all.token.agent', 'may name a project, and is that agent there only', async () => {
    const headers = await as('GreenCastle@/srv/signed')
    const register = (project_key: string, name: string) =>
      callTool(doors().mail, 'register_agent', { project_key, program: 'p', model: 'm', name }, { headers })
    expect((await register('/srv/signed', 'GreenCastle')).structuredContent).toMatchObject({ name: 'GreenCastle' })
    expect((await register('/srv/signed', 'BlueLake')).structuredContent).toMatchObject({
      error: { code: 'AGENT_NOT_FOUND' },
    })
    expect((await register('commons', 'GreenCastle')).structuredContent).toMatchObject({
      error: { code: 'PROJECT_NOT_FOUND' },
    })
  })

  verifies('all.token.agent', 'that is no name, or that of people, is refused', async () => {
    for (const agent of [
      '',
      'a b',
      '-x',
      '@commons',
      'x@',
      'HumanOverseer',
      'human-overseer',
      'ＨumanOverseer',
      'a'.repeat(101),
    ])
      expect(await statusWith(await as(agent)), agent).toBe(401)
    expect(await statusWith(bearer(await sign({ ...good, ...writer, agent: 7 })))).toBe(401)
    expect(await statusWith(bearer(await sign({ ...good, ...writer, agent: ['alice'] })))).toBe(401)
  })

  verifies('all.token.makes', 'makes its agent with the first write, and reading makes none', async () => {
    const names = async () => {
      const { structuredContent } = await callTool(doors().mail, 'list_agents', { project_key: 'commons' })
      return JSON.stringify(structuredContent)
    }
    await mailbox(parley(), 'someone-else').send('another', 'so that the project is there')
    const reading = await as('Nadia', { role: 'reader' })
    const headers = await as('Nadia')
    for (const given of [reading, headers]) {
      await callTool(doors().mail, 'list_agents', { project_key: 'commons' }, { headers: given })
      const inbox = { project_key: 'commons', agent_name: 'Nadia' }
      expect((await callTool(doors().mail, 'fetch_inbox', inbox, { headers: given })).isError).toBe(true)
    }
    expect(await names()).not.toContain('Nadia')
    await mailbox(parley(), 'Nadia', { headers }).send('another', 'hello')
    expect(await names()).toContain('Nadia')
    expect((await mailbox(parley(), 'another').check())?.content).toBe('so that the project is there')
    expect(await mailbox(parley(), 'another').check()).toMatchObject({ from: 'Nadia', content: 'hello' })
  })

  verifies('all.token.makes', 'of a project that is none makes nothing', async () => {
    const headers = await as('Nadia@nowhere-known')
    await expect(callTool(doors().mailbox, 'check_mail', {}, { headers })).rejects.toThrow(/PROJECT_NOT_FOUND/)
  })

  verifies('all.token.renewed', 'keeps its session under a renewed token, and nobody else has it', async () => {
    const endpoint = `${parley().url}/agents/renata/mcp`
    const session = await openSession(endpoint, await as('renata'))
    await mailbox(parley(), 'renata', { headers: await as('renata') }).send('another', 'made meanwhile')
    expect(await pingSession(endpoint, session, await as('renata', { jti: 'another' }))).toBe(200)
    expect(await pingSession(endpoint, session, await as('renata', { role: 'reader', sub: 'else' }))).toBe(200)
    expect(await pingSession(endpoint, session, await as('other'))).toBe(404)
    expect(await pingSession(endpoint, session, {})).toBe(404)
    const own = await openSession(endpoint, bearer(await sign({ ...good, ...writer })))
    expect(await pingSession(endpoint, own, bearer(await sign({ ...good, ...writer, jti: '2' })))).toBe(200)
    expect(await pingSession(endpoint, own, bearer(await sign({ ...good, sub: 'x', role: 'writer' })))).toBe(404)
  })
})

describe('With HTTP_JWT_ENABLED=false', () => {
  const off = share((later) => serveHere({ env: { ...env, HTTP_JWT_ENABLED: 'false' }, later }))

  verifies('all.token.off', 'no token is taken, and the metadata is not there', async () => {
    const answer = await ask(off(), checkMail('alice', bearer(await sign({ ...good, ...writer }))))
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer'])
    expect((await ask(off(), { path: '/.well-known/oauth-protected-resource/hub/mcp' })).status).toBe(404)
    expect((await ask(off(), checkMail('alice', bearer(operators)))).status).toBe(200)
  })
})
