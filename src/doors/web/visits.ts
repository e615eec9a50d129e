/** Admits visitors: who calls, by which credentials, and whether a form that came is one of ours (web.csrf.forms). */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { HubError } from '../../base/errors.ts'
import { type Caller, local, person } from '../../core/access/callers.ts'
import { isAnonymous, mayOperate, mayOversee, personOf } from '../../core/access/rules.ts'
import { knowDiscs, usualDisc } from '../../core/pages/initials.ts'
import { browserPerson, namedPerson, unmarked } from '../../core/pages/marks.ts'
import type { Assets } from './assets.ts'
import { cookie, readCookies } from './cookies.ts'
import type { Bodies } from './markdown/bodies.ts'
import { formOf } from './negotiation.ts'
import { type Sessions, sessionCookie, visitorCookie } from './sessions.ts'
import { type Theme, themes, type Visit, type WebOptions } from './site.ts'
import { readZone } from './zones.ts'

interface Submitted {
  readonly visit: Visit
  readonly fields: URLSearchParams
  /** A program that posted JSON: it gets the receipt. */
  readonly program: boolean
}

export interface Visits {
  /** A visitor who may look at the pages; else throws UNAUTHENTICATED. */
  admitted(request: FastifyRequest, reply: FastifyReply): Promise<Visit>
  /** Anybody: for the login and for errors. */
  anonymous(request: FastifyRequest, reply: FastifyReply): Promise<Visit>
  /** The fields of a form that one of our pages made for this visitor; else throws FORBIDDEN. */
  checkForm(request: FastifyRequest): URLSearchParams
  /** Such a form, or the JSON of a program with the operator's token, and who sent it. */
  submitted(request: FastifyRequest, reply: FastifyReply): Promise<Submitted>
  isSecure(request: FastifyRequest): boolean
}

/** The parts that all pages share, loaded with the first page. */
export interface Loaded {
  readonly assets: Assets
  readonly bodies: Bodies
}

interface Parts {
  readonly sessions: Sessions
  readonly parts: () => Promise<Loaded>
}

interface Known {
  readonly caller: Caller
  readonly signedIn: boolean
}

export function createVisits(app: FastifyInstance, options: WebOptions, { sessions, parts }: Parts): Visits {
  const { hub, token, publicUrl, mailPath, version } = options
  const guarded = token !== undefined

  /** A header counts before a cookie: whoever sends one means it. */
  async function whoIs(raw: IncomingMessage): Promise<Known> {
    const { authorization, cookie: header, 'x-api-key': key } = raw.headers
    if (authorization === undefined && key === undefined) {
      const caller = await sessions.callerOf(readCookies(header).get(sessionCookie))
      if (caller !== undefined) return { caller, signedIn: true }
    }
    return { caller: await app.callerOf(raw), signedIn: false }
  }

  async function visitOf(request: FastifyRequest, reply: FastifyReply, { caller, signedIn }: Known): Promise<Visit> {
    const { headers } = request
    const cookies = readCookies(headers.cookie)
    const url = new URL(`http://parley.invalid${request.url.startsWith('/') ? request.url : '/mail'}`)
    const visitor = cookies.get(visitorCookie) ?? sessions.visitor()
    if (!cookies.has(visitorCookie) && formOf(headers, url.searchParams) === 'html')
      reply.header('set-cookie', cookie(visitorCookie, visitor, { maxAge: visitorSeconds, secure: isSecure(request) }))
    const theme = cookies.get('parley_theme') as Theme
    const name = personOf(caller)
    const { assets, bodies } = await parts()
    return {
      hub,
      caller,
      signedIn,
      guarded,
      steers: mayOversee(caller) || (isAnonymous(caller) && !guarded),
      path: url.pathname.length > 1 ? url.pathname.replace(/\/$/, '') : url.pathname,
      query: url.searchParams,
      origin: app.originOf(request.raw),
      reachable: publicUrl !== undefined,
      mailPath,
      version,
      csrf: sessions.csrf(visitor, signedIn ? cookies.get(sessionCookie) : undefined),
      theme: themes.includes(theme) ? theme : 'auto',
      shortcuts: cookies.get('parley_shortcuts') !== 'off',
      zone: readZone(cookies.get('parley_zone')),
      now: hub.clock.now(),
      marks: unmarked(name === undefined ? browserPerson(browserOf(cookies)) : namedPerson(name)),
      bodies,
      // The page that tells of a failed storage needs none.
      discOf: await knowDiscs(hub, caller).catch(
        () =>
          ({ name }: { name: string }) =>
            usualDisc(name),
      ),
      asset: assets.path,
    }
  }

  /** Behind a proxy with TLS: it says so. Whoever says it falsely has a cookie that is sent by TLS alone. */
  const isSecure = ({ raw, headers }: FastifyRequest): boolean =>
    app.isSecure(raw) || headers['x-forwarded-proto'] === 'https'

  function checkForm({ body, headers }: FastifyRequest): URLSearchParams {
    const site = headers['sec-fetch-site']
    const cookies = readCookies(headers.cookie)
    const session = cookies.get(sessionCookie)
    const known = sessions.read(session) === undefined ? undefined : session
    if (site !== undefined && site !== 'same-origin' && site !== 'none') throw foreign()
    if (!(body instanceof URLSearchParams)) throw foreign()
    if (!sessions.isCsrf(body.get('_csrf'), cookies.get(visitorCookie), known)) throw foreign()
    return body
  }

  return {
    isSecure,
    checkForm,
    admitted: async (request, reply) => visitOf(request, reply, await whoIs(request.raw)),
    anonymous: async (request, reply) => {
      const known = await whoIs(request.raw).catch(() => ({ caller: local, signedIn: false }))
      return visitOf(request, reply, known)
    },
    async submitted(request, reply) {
      const { body, headers, raw } = request
      if (!(body instanceof URLSearchParams)) {
        // A cookie may be sent along by anybody; a header is not.
        const known = await whoIs(raw)
        if (known.signedIn || headers.authorization === undefined || !mayOperate(known.caller))
          throw new HubError('FORBIDDEN', "Programs post here with the operator's token.", {
            hint: 'Send "Authorization: Bearer" with that token: `parley token show` prints it.',
          })
        return { visit: await visitOf(request, reply, known), fields: fieldsOf(body), program: true }
      }
      const fields = checkForm(request)
      const known = await whoIs(raw)
      const anonymous = isAnonymous(known.caller)
      if (anonymous && guarded) throw new HubError('FORBIDDEN', 'Log in to do this.')
      // A form of ours, sent by a browser of this machine: a person, and not an agent with curl.
      const caller = anonymous ? person : known.caller
      return { visit: await visitOf(request, reply, { ...known, caller }), fields, program: false }
    },
  }
}

/** The marks of a browser last as long as it comes now and then. */
const visitorSeconds = 365 * 86_400

/** Which browser it is, once it has sent its cookie back; the cookie itself proves forms, and is kept nowhere. */
function browserOf(cookies: ReadonlyMap<string, string>): string | undefined {
  const visitor = cookies.get(visitorCookie)
  return visitor && createHash('sha256').update(visitor).digest('base64url').slice(0, 22)
}

const foreign = (): HubError =>
  new HubError('FORBIDDEN', 'This form did not come from one of our pages, or that page was old. Load it again.')

/** The fields of a form, from an object: a list is a repeated field. */
function fieldsOf(body: unknown): URLSearchParams {
  const fields = new URLSearchParams()
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new HubError('INVALID_ARGUMENT', 'The body must be a JSON object with the fields of the form.')
  for (const [name, value] of Object.entries(body))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== null && one !== undefined)
        fields.append(name, typeof one === 'object' ? JSON.stringify(one) : String(one))
  return fields
}
