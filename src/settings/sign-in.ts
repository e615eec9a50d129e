/** Settings of signing in: signed tokens, the roles of those who send them, and where clients are told of both. */
import { flag, list, optional, setting, text } from './kinds.ts'

const shared = ['HS256', 'HS384', 'HS512']
const published = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

/** The algorithms that go with keys of one kind. */
export const algorithmsFor = (keysUrl: string | undefined) =>
  keysUrl === undefined ? { usual: ['HS256'], all: shared } : { usual: ['RS256', 'ES256'], all: published }

export const signInSettings = {
  HTTP_PUBLIC_URL: setting({
    default: '',
    says: 'URL by which clients reach this server, such as `https://hub.example`, where a proxy stands in front of it. Its host counts as one of HTTP_ALLOWED_HOSTS, and with `/hub/mcp` behind it it is the resource that OAuth tokens are for. Empty means that each request tells by its `Host`.',
    parse: (raw) => {
      const url = raw === '' ? undefined : webUrl(raw)
      return url && `${url.origin}${url.pathname.replace(/\/+$/, '')}`
    },
  }),
  HTTP_JWT_ENABLED: setting({
    default: 'false',
    says: 'Whether signed tokens (JWT) are taken as `Authorization: Bearer …`, besides HTTP_BEARER_TOKEN and the keys of agents. Needs HTTP_JWT_SECRET or HTTP_JWT_JWKS_URL.',
    parse: flag,
  }),
  HTTP_JWT_SECRET: setting({
    default: '',
    says: 'Secret that signed tokens are made with, by an HS algorithm; at least 32 bytes. Not used where HTTP_JWT_JWKS_URL is set.',
    secret: true,
    parse: optional,
  }),
  HTTP_JWT_JWKS_URL: setting({
    default: '',
    says: 'URL of the public keys (JWKS) of the authorisation server whose signed tokens are taken. A token then has to name its key (`kid`). Together with HTTP_JWT_ISSUER it turns OAuth on: docs/sign-in.md.',
    parse: (raw) => (raw === '' ? undefined : webUrl(raw, { query: true }).href),
  }),
  HTTP_JWT_ALGORITHMS: setting({
    default: '',
    says: 'Algorithms of signed tokens that are taken, separated by commas. Empty means `RS256,ES256` where HTTP_JWT_JWKS_URL is set, and `HS256` where it is not.',
    parse: list,
  }),
  HTTP_JWT_AUDIENCE: setting({
    default: '',
    says: 'Audience (`aud`) that a signed token must be for. Empty means the URL of the hub door while OAuth is on, and else that any will do.',
    parse: optional,
  }),
  HTTP_JWT_ISSUER: setting({
    default: '',
    says: 'Issuer (`iss`) that a signed token must name: the URL of the authorisation server. Empty means that any will do.',
    parse: optional,
  }),
  HTTP_JWT_ROLE_CLAIM: setting({
    default: 'role',
    says: 'Claim of a signed token that holds the role of its owner, or a list of roles.',
    parse: (raw) => text(raw.trim()),
  }),
  HTTP_RBAC_ENABLED: setting({
    default: 'true',
    says: 'Whether the role of a signed token decides if it may write. Without it every such token may, unless its scope leaves out `parley:write`.',
    parse: flag,
  }),
  HTTP_RBAC_READER_ROLES: setting({
    default: 'reader,read,ro',
    says: 'Roles of signed tokens, separated by commas, that may read and not write. A role that stands here and not in HTTP_RBAC_WRITER_ROLES either writes nothing, and so does one that stands in neither.',
    parse: list,
  }),
  HTTP_RBAC_WRITER_ROLES: setting({
    default: 'writer,write,tools,rw',
    says: 'Roles of signed tokens, separated by commas, that may write. Of several roles of one token, this one wins.',
    parse: list,
  }),
  HTTP_RBAC_AUDITOR_ROLES: setting({
    default: '',
    says: 'Roles of signed tokens, separated by commas, that see what the operator sees, the mail of all agents and blind copies too, and write nothing, whatever other roles the token has. Empty means that no token does.',
    parse: list,
  }),
  HTTP_RBAC_DEFAULT_ROLE: setting({
    default: 'reader',
    says: 'Role of a signed token that has none, nor a scope of Parley while OAuth is on.',
    parse: (raw) => text(raw.trim()),
  }),
  HTTP_RBAC_READONLY_TOOLS: setting({
    default: '',
    says: 'Tools, separated by commas, that callers who may only read can call, at every door. Empty means all tools that change nothing.',
    parse: list,
  }),
} as const

function webUrl(raw: string, { query = false } = {}): URL {
  const url = URL.parse(raw)
  const plain = url !== null && /^https?:$/.test(url.protocol) && url.username + url.password + url.hash === ''
  if (!plain || (url.search !== '' && !query))
    throw new Error(`must be an http or https URL without a user${query ? '' : ' or a query'}`)
  return url
}
