/** An authorisation server for tests: it signs tokens and publishes the keys, can change them, and can hang. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import type { Later } from './parley.ts'

export interface Authority {
  readonly issuer: string
  readonly keysUrl: string
  /** How often its keys were asked for. */
  readonly asked: () => number
  /** Whether it takes requests and answers none. */
  hang(hanging: boolean): void
  /** Answers this instead of its keys, until it is told not to. */
  spoil(text: string | undefined): void
  /** Publishes one more key, and signs with it from now on. */
  rotate(kid: string): Promise<void>
  withdraw(kid: string): void
  sign(claims: JWTPayload, options?: Signing): Promise<string>
  /** The key that is published, as somebody else might take it for a secret. */
  publicKey(): Promise<string>
}

export interface Signing {
  readonly kid?: string | undefined
  readonly key?: CryptoKey
  readonly alg?: string
}

export async function startAuthority(later: Later): Promise<Authority> {
  const keys = new Map<string, { jwk: JWK; privateKey: CryptoKey; publicKey: CryptoKey }>()
  const open = new Set<() => void>()
  let current = ''
  let asked = 0
  let hanging = false
  let spoilt: string | undefined
  const server = createServer(async (request, response) => {
    if (request.url !== '/jwks') return void (await issue(request, response))
    asked++
    const answer = () => {
      open.delete(answer)
      response.setHeader('content-type', 'application/json')
      response.end(spoilt ?? JSON.stringify({ keys: [...keys.values()].map(({ jwk }) => jwk) }))
    }
    if (hanging) open.add(answer)
    else answer()
  })
  const issuer = await listen(server, later)

  async function rotate(kid: string): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
    keys.set(kid, { jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }, privateKey, publicKey })
    current = kid
  }
  await rotate('first')

  /** A program gets a token for the resource that it names, with the scopes that it asks for. */
  async function issue(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('content-type', 'application/json')
    if (request.url === '/.well-known/oauth-authorization-server')
      return void response.end(
        JSON.stringify({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          response_types_supported: ['code'],
          grant_types_supported: ['client_credentials'],
          token_endpoint_auth_methods_supported: ['client_secret_basic'],
        }),
      )
    if (request.url !== '/token') return void response.writeHead(404).end('{}')
    let text = ''
    for await (const part of request.setEncoding('utf8')) text += part
    const asked = new URLSearchParams(text)
    const claims = {
      sub: 'program',
      agent: 'program',
      aud: asked.get('resource') ?? '',
      scope: asked.get('scope') ?? '',
    }
    const access_token = await authority.sign(claims)
    response.end(JSON.stringify({ access_token, token_type: 'Bearer', expires_in: 600, scope: claims.scope }))
  }

  const need = (kid: string) => {
    const found = keys.get(kid)
    if (found === undefined) throw new Error(`there is no key ${kid}`)
    return found
  }
  const authority: Authority = {
    issuer,
    keysUrl: `${issuer}/jwks`,
    asked: () => asked,
    hang(now) {
      hanging = now
      if (!now) for (const answer of [...open]) answer()
    },
    spoil(text) {
      spoilt = text
    },
    rotate,
    withdraw: (kid) => void keys.delete(kid),
    sign(claims, options = {}) {
      const { kid = current, key = need(current).privateKey, alg = 'ES256' } = options
      const named = 'kid' in options && options.kid === undefined ? {} : { kid }
      const token = new SignJWT({ iss: issuer, ...claims }).setProtectedHeader({ alg, ...named })
      return ('exp' in claims ? token : token.setExpirationTime('10m')).sign(key)
    },
    publicKey: () => exportSPKI(need(current).publicKey),
  }
  return authority
}

async function listen(server: Server, later: Later): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  later(async () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A token signed with a shared secret. */
export function signShared(secret: string, claims: JWTPayload, alg = 'HS256'): Promise<string> {
  const token = new SignJWT(claims).setProtectedHeader({ alg, typ: 'JWT' })
  return ('exp' in claims ? token : token.setExpirationTime('10m')).sign(new TextEncoder().encode(secret))
}

/** A token whose parts are what the test says, signed by nobody. */
export const unsigned = (header: object, claims: object, signature = ''): string =>
  [...[header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')), signature].join('.')
