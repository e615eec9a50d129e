/** Parley as a protected resource of OAuth 2.1: where it is, who issues tokens for it (RFC 9728), and what a refusal says. */
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '../../../core/access/callers.ts'
import type { OriginOptions } from '../origin.ts'
import { scopes } from './claims.ts'

export interface ResourceOptions {
  /** The authorisation server; absent while OAuth is off. */
  readonly issuer?: string | undefined
  /** Whether signed tokens are taken: a bad credential may then have been one. */
  readonly tokens?: boolean
}

const hubPath = '/hub/mcp'
const wellKnown = '/.well-known/oauth-protected-resource'
const everyScope = `${scopes.read} ${scopes.write}`

const pathOf = ({ pathname }: URL): string => pathname.replace(/\/$/, '')

/** By which URL the client of a request reaches this server. */
type Origin = Pick<FastifyInstance, 'originOf'>

/** The URL of the hub door: the audience of tokens, unless a setting names another. */
export function resourceOf({ originOf }: Origin, request: IncomingMessage): string {
  const url = new URL(originOf(request))
  return `${url.origin}${pathOf(url)}${hubPath}`
}

/** Readable by everybody: a client asks for it because it has no token yet. */
export function addMetadata(
  app: FastifyInstance,
  options: ResourceOptions,
  { publicUrl, basePath = '' }: OriginOptions,
): void {
  const { issuer } = options
  if (issuer === undefined) return
  const prefix = publicUrl === undefined ? basePath : pathOf(new URL(publicUrl))
  for (const place of new Set([hubPath, `${prefix}${hubPath}`]))
    app.get(`${wellKnown}${place}`, { config: { open: true } }, async ({ raw }) => ({
      resource: resourceOf(app, raw),
      authorization_servers: [issuer],
      scopes_supported: Object.values(scopes),
      bearer_methods_supported: ['header'],
      resource_name: 'Parley',
    }))
}

/** The `WWW-Authenticate` of a refusal; undefined where it is none of credentials. */
export function challengeOf(
  { originOf }: Origin,
  options: ResourceOptions,
  { raw, caller }: Pick<FastifyRequest, 'raw'> & { readonly caller?: Caller },
  status: number,
): string | undefined {
  const hub = /^\/hub\/mcp\/?(?:\?|$)/.test(raw.url ?? '')
  const given = raw.headers.authorization !== undefined || raw.headers['x-api-key'] !== undefined
  const error = status === 401 ? options.tokens && given && 'invalid_token' : 'insufficient_scope'
  if (status !== 401 && !(status === 403 && hub && caller?.readOnly)) return undefined
  const parts = error ? [`error="${error}"`] : []
  if (hub && options.issuer !== undefined) {
    const url = new URL(originOf(raw))
    parts.push(`scope="${everyScope}"`, `resource_metadata="${url.origin}${wellKnown}${pathOf(url)}${hubPath}"`)
  }
  return parts.length === 0 ? 'Bearer' : `Bearer ${parts.join(', ')}`
}
