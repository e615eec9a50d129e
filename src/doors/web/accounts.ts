/** Routes of the visitor itself: logging in and out, and how the pages look to it. */
import type { FastifyInstance, RouteShorthandOptions } from 'fastify'
import { HubError } from '../../base/errors.ts'
import { logIn } from '../../core/access/logins.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { networkOf } from '../http/networks.ts'
import { cookie, readCookies } from './cookies.ts'
import { loginView, nextOf } from './login.ts'
import { sendView } from './replies.ts'
import { type Sessions, sessionCookie } from './sessions.ts'
import { type Theme, themes } from './site.ts'
import type { Visits } from './visits.ts'

const keptSeconds = 365 * 86_400

interface Parts {
  readonly hub: Hub
  readonly sessions: Sessions
  readonly visits: Visits
  readonly route: RouteShorthandOptions
}

export function addAccounts(scope: FastifyInstance, { hub, sessions, visits, route }: Parts): void {
  scope.get('/mail/login', route, async (request, reply) => {
    const visit = await visits.anonymous(request, reply)
    return sendView(reply, { view: loginView(visit), visit, request })
  })

  scope.post('/mail/login', route, async (request, reply) => {
    const fields = visits.checkForm(request)
    const visit = await visits.anonymous(request, reply)
    const given = fields.get('token') ?? ''
    const login = {
      address: networkOf(scope.clientAddress(request.raw)),
      token: sessions.isToken(given),
      code: sessions.readCode(given),
    }
    try {
      await logIn(hub, visit.caller, login)
    } catch (error) {
      if (!(error instanceof HubError) || error.code !== 'UNAUTHENTICATED') throw error
      const view = loginView({ ...visit, query: fields }, error.message)
      return sendView(reply, { view, visit, request })
    }
    const { value, maxAge } = sessions.issue(login.code?.name)
    return reply
      .header('set-cookie', cookie(sessionCookie, value, { maxAge, secure: visits.isSecure(request) }))
      .redirect(nextOf(fields.get('next')), 303)
  })

  scope.post('/mail/logout', route, async (request, reply) => {
    visits.checkForm(request)
    const { caller } = await visits.admitted(request, reply)
    const session = sessions.read(readCookies(request.headers.cookie).get(sessionCookie))
    if (session !== undefined) await sessions.ended.add(caller, session.nonce, session.until)
    return reply
      .header('set-cookie', cookie(sessionCookie, '', { maxAge: 0, secure: visits.isSecure(request) }))
      .redirect('/mail/login', 303)
  })

  scope.post('/mail/settings', route, async (request, reply) => {
    const fields = visits.checkForm(request)
    const [theme, shortcuts] = [fields.get('theme'), fields.get('shortcuts')]
    const kept: string[] = []
    const keep = (name: string, value: string) =>
      kept.push(cookie(name, value, { maxAge: keptSeconds, secure: visits.isSecure(request) }))
    if (themes.includes(theme as Theme)) keep('parley_theme', theme as Theme)
    else if (theme !== null) throw new HubError('INVALID_ARGUMENT', 'The field "theme" must be auto, light or dark.')
    if (shortcuts === 'on' || shortcuts === 'off') keep('parley_shortcuts', shortcuts)
    else if (shortcuts !== null) throw new HubError('INVALID_ARGUMENT', 'The field "shortcuts" must be on or off.')
    return reply.header('set-cookie', kept).redirect(nextOf(fields.get('next')), 303)
  })
}
