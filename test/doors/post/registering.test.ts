/** The callers that may register an agent at the post door. */
import { describe, expect } from 'vitest'
import { shareServer } from '../../support/parley.ts'
import { ask, freshName, register } from '../../support/post.ts'
import { verifies } from '../../support/verifies.ts'

const token = 'the-operators-token'
const closed = { HTTP_BEARER_TOKEN: token, HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: 'false' }

describe('A server that wants credentials of everybody', () => {
  const parley = shareServer({ env: closed })

  verifies('post.register.open', 'lets the operator register agents, and nobody else', async () => {
    const answer = async (headers: Record<string, string> = {}) =>
      ask(parley(), 'POST', '/agents/register', { body: { name: freshName('alice') }, headers })
    expect(await answer()).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED' } })
    expect((await answer({ Authorization: 'Bearer wrong' })).status).toBe(401)
    const made = await answer({ Authorization: `Bearer ${token}` })
    expect(made.status).toBe(201)
    expect(await answer({ 'X-API-Key': made.body.api_key })).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    expect((await ask(parley(), 'GET', '/inbox', { headers: { Authorization: `Bearer ${token}` } })).status).toBe(403)
  })
})

describe('A server that is open for registration', () => {
  const parley = shareServer({ env: { ...closed, REGISTRATION_OPEN: 'true' } })

  verifies('post.register.open', 'registers everybody, and gives nothing else away', async () => {
    const alice = await register(parley(), 'alice')
    expect((await alice.get('/agents/me')).status).toBe(200)
    expect((await ask(parley(), 'GET', '/inbox')).status).toBe(401)
    const wrong = { body: { name: freshName('bob') }, headers: { 'X-API-Key': 'wrong' } }
    expect((await ask(parley(), 'POST', '/agents/register', wrong)).status).toBe(401)
  })

  verifies('post.register.open', 'keeps projects apart', async () => {
    const elsewhere = await register(parley(), 'carol', { query: '?project=/srv/code/elsewhere' })
    const here = await register(parley(), 'dave')
    expect((await elsewhere.request(here)).status).toBe(404)
    const query = '?project=nowhere'
    const body = { name: freshName('eve') }
    expect((await ask(parley(), 'POST', `/agents/register${query}`, { body })).status).toBe(404)
  })
})
