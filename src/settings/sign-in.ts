/** Settings of signing in: signed tokens, the roles of their owners, and where clients learn of both. */
import { flag, list, optional, parsed } from './kinds.ts'

const shared = ['HS256', 'HS384', 'HS512']
const published = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

/** The algorithms that go with keys of one kind. */
export const algorithmsFor = (keysUrl: string | undefined) =>
  keysUrl === undefined ? { usual: ['HS256'], all: shared } : { usual: ['RS256', 'ES256'], all: published }

export const signInSettings = {
  HTTP_PUBLIC_URL: parsed('', (raw) => {
    const url = raw === '' ? undefined : webUrl(raw)
    return url && `${url.origin}${url.pathname.replace(/\/+$/, '')}`
  }).says(
    'URL by which clients on other machines reach this server, such as `https://hub.example`: the one setting for serving beyond this machine. Its host and origin are allowed; the banner, `/docs`, the pages and invitations show it, and followed by `/hub/mcp` it is the resource that OAuth tokens are for. Empty means the `Host` of each request.',
  ),
  HTTP_JWT_ENABLED: flag(false).says(
    'Whether signed tokens (JWT) are accepted as `Authorization: Bearer …`, besides HTTP_BEARER_TOKEN and the keys of agents. Needs HTTP_JWT_SECRET or HTTP_JWT_JWKS_URL.',
  ),
  HTTP_JWT_SECRET: optional().secret(
    'Secret that signs tokens with an HS algorithm; at least 32 bytes. Not used where HTTP_JWT_JWKS_URL is set.',
  ),
  HTTP_JWT_JWKS_URL: parsed('', (raw) => (raw === '' ? undefined : webUrl(raw, { query: true }).href)).says(
    'URL of the public keys (JWKS) of the authorisation server whose signed tokens are accepted. A token must then name its key (`kid`). Together with HTTP_JWT_ISSUER it turns OAuth on: docs/access.md.',
  ),
  HTTP_JWT_ALGORITHMS: list().says(
    'Algorithms of signed tokens that are accepted, separated by commas. Empty means `RS256,ES256` where HTTP_JWT_JWKS_URL is set, and `HS256` where it is not.',
  ),
  HTTP_JWT_AUDIENCE: optional().says(
    'Audience (`aud`) that a signed token must be for. Empty means the URL of the hub door while OAuth is on, and any audience otherwise.',
  ),
  HTTP_JWT_ISSUER: optional().says(
    'Issuer (`iss`) that a signed token must name: the URL of the authorisation server. Empty means any issuer.',
  ),
  HTTP_JWT_ROLE_CLAIM: parsed('role', (raw) => raw.trim()).says(
    'Claim of a signed token that holds the role of its owner, or a list of roles.',
  ),
  HTTP_RBAC_ENABLED: flag(true).says(
    'Whether the role of a signed token decides if it may write. If false, every signed token may write, unless its scope leaves out `parley:write`.',
  ),
  HTTP_RBAC_READER_ROLES: list('reader,read,ro').says(
    'Roles of signed tokens, separated by commas, that may read and not write. A role that is in neither this list nor HTTP_RBAC_WRITER_ROLES may not write either.',
  ),
  HTTP_RBAC_WRITER_ROLES: list('writer,write,tools,rw').says(
    'Roles of signed tokens, separated by commas, that may write. If a token has several roles, one of these is enough.',
  ),
  HTTP_RBAC_AUDITOR_ROLES: list().says(
    'Roles of signed tokens, separated by commas, that read everything the operator reads, blind copies included, and write nothing, whatever other roles the token has. Empty means that no role does.',
  ),
  HTTP_RBAC_DEFAULT_ROLE: parsed('reader', (raw) => raw.trim()).says(
    'Role of a signed token that names no role and, while OAuth is on, has no scope of Parley.',
  ),
  HTTP_RBAC_READONLY_TOOLS: list().says(
    'Tools, separated by commas, that read-only callers may call, at every door. Empty means every tool that changes nothing.',
  ),
}

function webUrl(raw: string, { query = false } = {}): URL {
  const url = URL.parse(raw)
  const plain = url !== null && /^https?:$/.test(url.protocol) && url.username + url.password + url.hash === ''
  if (!plain || (url.search !== '' && !query))
    throw new Error(`must be an http or https URL without a user${query ? '' : ' or a query'}`)
  return url
}
