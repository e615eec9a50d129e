/** Tokens by the keys of a key server: new keys, withdrawn ones, unknown ones, and a server that hangs. */
import { generateKeyPairSync, sign } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { generateKeyPair } from 'jose'
import { pino } from 'pino'
import { describe, expect, onTestFinished } from 'vitest'
import { tokenCaller } from '../../src/core/access/callers.ts'
import { createTokens, type Tokens } from '../../src/doors/http/sign-in/tokens.ts'
import { type Authority, signShared, startAuthority } from '../support/authority.ts'
import { TestClock } from '../support/clock.ts'
import { serveHere } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'
import { ask, checkMail } from '../support/wire.ts'

const request = {} as IncomingMessage
const roles = { enabled: false, claim: 'role', readers: [], writers: [], auditors: [], fallback: '', scopes: false }

/** Tokens as the server reads them, with a clock that the test turns. */
async function setUp({ algorithms = ['ES256'] } = {}) {
  const authority = await startAuthority((work) => onTestFinished(async () => void (await work())))
  const clock = new TestClock(Date.now())
  let looked = 0
  const tokens = await createTokens({
    clock,
    log: pino({ level: 'silent' }),
    keysUrl: authority.keysUrl,
    secret: undefined,
    algorithms,
    issuer: authority.issuer,
    audience: () => undefined,
    roles,
    callerOf: async ({ subject, mayWrite }) => {
      looked++
      return tokenCaller(subject, mayWrite)
    },
  })
  onTestFinished(() => tokens.close())
  return { authority, clock, tokens, looked: () => looked }
}

/** The caller, or the reason of the refusal. */
const who = async (tokens: Tokens, token: string): Promise<string> => {
  try {
    return (await tokens.callerOf(token, token, request)).key
  } catch (error) {
    return (error as Error).message
  }
}

const unknownKey = /key that is not known/

describe('The keys of a key server', () => {
  verifies(
    'all.token.rotation',
    'are found when they are new, within 45 s, and asked for now and then only',
    async () => {
      const { authority, clock, tokens } = await setUp()
      expect(await who(tokens, await authority.sign({ sub: 'a' }))).toBe('a')
      expect(authority.asked()).toBe(1)
      await authority.rotate('second')
      const token = await authority.sign({ sub: 'b' })
      // A minute of guesses costs the server two looks, and does not keep the new key out.
      const found: number[] = []
      for (let second = 0; second < 60; second++) {
        expect(await who(tokens, await authority.sign({ sub: 'x' }, { kid: `guess-${second}` }))).toMatch(unknownKey)
        if ((await who(tokens, token)) === 'b') found.push(second)
        clock.advance(1000)
      }
      expect(found[0]).toBeLessThan(45)
      expect(found).toHaveLength(60 - (found[0] ?? 0))
      expect(authority.asked()).toBeLessThanOrEqual(3)
    },
  )

  verifies('all.token.rotation', 'that were withdrawn are refused, also for tokens seen before', async () => {
    const { authority, clock, tokens } = await setUp()
    const token = await authority.sign({ sub: 'a', exp: Math.floor(Date.now() / 1000) + 3600 })
    expect(await who(tokens, token)).toBe('a')
    await authority.rotate('second')
    authority.withdraw('first')
    clock.advance(6 * 60_000)
    await expect.poll(() => who(tokens, token)).toMatch(unknownKey)
  })

  verifies('all.token.hanging', 'are known while their server hangs; an unknown one is refused in time', async () => {
    const { authority, clock, tokens } = await setUp()
    expect(await who(tokens, await authority.sign({ sub: 'a' }))).toBe('a')
    authority.hang(true)
    clock.advance(6 * 60_000)
    const exp = Math.floor(clock.now() / 1000) + 600
    expect(await who(tokens, await authority.sign({ sub: 'b', exp }))).toBe('b')
    const refused = who(tokens, await authority.sign({ sub: 'c', exp }, { kid: 'unknown' }))
    let answered = false
    void refused.then(() => {
      answered = true
    })
    await expect.poll(() => authority.asked()).toBe(2)
    clock.advance(9000)
    expect(await who(tokens, await authority.sign({ sub: 'd', exp }))).toBe('d')
    expect(answered).toBe(false)
    clock.advance(2000)
    expect(await refused).toMatch(unknownKey)
  })

  verifies('all.token.hanging', 'stay known while their server answers with something else', async () => {
    const { authority, clock, tokens } = await setUp()
    expect(await who(tokens, await authority.sign({ sub: 'a' }))).toBe('a')
    for (const [index, text] of ['<html>', '{}', '{"keys":7}', ' '.repeat(600_000)].entries()) {
      authority.spoil(text)
      clock.advance(6 * 60_000)
      const exp = Math.floor(clock.now() / 1000) + 600
      expect(await who(tokens, await authority.sign({ sub: 'b', exp }))).toBe('b')
      await expect.poll(() => authority.asked()).toBe(index + 2)
      expect(await who(tokens, await authority.sign({ sub: 'c', exp, jti: 'after it' }))).toBe('c')
    }
    authority.spoil('{"keys":[]}')
    clock.advance(6 * 60_000)
    const exp = Math.floor(clock.now() / 1000) + 600
    const token = await authority.sign({ sub: 'd', exp })
    await expect.poll(() => who(tokens, token)).toMatch(unknownKey)
  })

  verifies('all.token.cached', 'are asked for once a token; it ends when it expires', async () => {
    const { authority, clock, tokens, looked } = await setUp()
    const token = await authority.sign({ sub: 'a', exp: Math.floor(Date.now() / 1000) + 60 })
    expect(await who(tokens, token)).toBe('a')
    const seen = tokens.callerOf(token, token, request)
    expect(seen).not.toBeInstanceOf(Promise)
    expect(seen).toMatchObject({ key: 'a' })
    expect(looked()).toBe(1)
    clock.advance(119_000)
    expect(await who(tokens, token)).toBe('a')
    clock.advance(2000)
    expect(await who(tokens, token)).toBe('The token has expired.')
    expect(await who(tokens, token)).toBe('The token has expired.')
  })

  verifies('all.token.forged', 'make no secret, and sign by no algorithm but theirs', async () => {
    const { authority, tokens } = await setUp({ algorithms: ['ES256', 'HS256'] })
    const claims = { sub: 'a', iss: authority.issuer }
    const forged = async (alg: string) => signedWithPublicKey(authority, claims, alg)
    for (const alg of ['HS256', 'HS512']) expect(await who(tokens, await forged(alg))).not.toBe('a')
    const { privateKey } = await generateKeyPair('ES256')
    expect(await who(tokens, await authority.sign(claims, { key: privateKey }))).toMatch(/not valid/)
    expect(await who(tokens, await authority.sign(claims, { kid: undefined }))).toMatch(/kid/)
    expect(await who(tokens, await authority.sign(claims))).toBe('a')
  })
})

async function signedWithPublicKey(authority: Authority, claims: Record<string, string>, alg: string): Promise<string> {
  const { SignJWT } = await import('jose')
  const key = new TextEncoder().encode(await authority.publicKey())
  return new SignJWT(claims).setProtectedHeader({ alg, kid: 'first' }).setExpirationTime('10m').sign(key)
}

describe('A server that takes tokens of a key server', () => {
  verifies('all.token.weak', 'refuses a token whose key is too short, and goes on with the others', async () => {
    const authority = await startAuthority((work) => onTestFinished(async () => void (await work())))
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
    const weak = { ...publicKey.export({ format: 'jwk' }), kid: 'weak', alg: 'RS256', use: 'sig' }
    const { keys } = (await (await fetch(authority.keysUrl)).json()) as { keys: object[] }
    authority.spoil(JSON.stringify({ keys: [...keys, weak] }))
    const parley = await serveHere({ env: { HTTP_JWT_ENABLED: 'true', HTTP_JWT_JWKS_URL: authority.keysUrl } })
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const claims = { sub: 'x', role: 'writer', exp: 4_000_000_000 }
    const text = `${part({ alg: 'RS256', kid: 'weak' })}.${part(claims)}`
    const token = `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
    const call = (bearer: string) => ask(parley, checkMail('alice', { Authorization: `Bearer ${bearer}` }))
    const refused = await call(token)
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, 'Bearer error="invalid_token"'])
    expect((await call(await authority.sign(claims))).status).toBe(200)
  })

  verifies(['all.token.taken', 'all.token.forged'], 'takes those and no others', async () => {
    const authority = await startAuthority((work) => onTestFinished(async () => void (await work())))
    const env = { HTTP_JWT_ENABLED: 'true', HTTP_JWT_JWKS_URL: authority.keysUrl, HTTP_RBAC_DEFAULT_ROLE: 'writer' }
    const parley = await serveHere({ env })
    const status = async (token: string) =>
      (await ask(parley, checkMail('alice', { Authorization: `Bearer ${token}` }))).status
    expect(await status(await authority.sign({ sub: 'a' }))).toBe(200)
    expect(await status(await authority.sign({ sub: 'a' }, { kid: undefined }))).toBe(401)
    expect(await status(await authority.sign({ sub: 'a' }, { kid: 'unknown' }))).toBe(401)
    expect(await status(await signedWithPublicKey(authority, { sub: 'a' }, 'HS256'))).toBe(401)
    expect(await status(await signShared('x'.repeat(32), { sub: 'a' }))).toBe(401)
    const { privateKey } = await generateKeyPair('ES384')
    expect(await status(await authority.sign({ sub: 'a' }, { key: privateKey, alg: 'ES384' }))).toBe(401)
  })
})
