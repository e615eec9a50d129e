/** Answers of the door: a page, JSON or text, compressed; and errors in the form that was asked for. */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorShape, HubError, isUnexpected } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { pageBelow } from '../http/base-path.ts'
import { isCutOff } from '../http/refusal.ts'
import { errorView, readError } from './errors.ts'
import { notices, undoable } from './forms.ts'
import { bareFrame, type Frame, loadFrame } from './frame.ts'
import { pageHeaders } from './headers.ts'
import { type Html, html } from './html.ts'
import { pageDocument, proof } from './layout.ts'
import { encodingOf, formOf, isBrowser } from './negotiation.ts'
import type { Answer, View } from './page.ts'
import { urlWith, type Visit, withQuery } from './site.ts'
import type { Visits } from './visits.ts'

interface Sending {
  readonly request: FastifyRequest
  readonly visit: Visit
}

export async function send(
  reply: FastifyReply,
  { answer, request, visit }: Sending & { answer: Answer },
): Promise<FastifyReply> {
  const form = formOf(request.headers, visit.query)
  reply.headers(pageHeaders)
  if (form === 'json')
    return write(
      reply,
      request,
      'application/json; charset=utf-8',
      JSON.stringify(await answer.json(), linksBelow(request.server.basePath)),
    )
  if (form === 'md') {
    if (answer.text === undefined)
      throw new HubError('INVALID_ARGUMENT', 'The parameter "format" must be html or json.')
    return write(reply, request, 'text/plain; charset=utf-8', answer.text())
  }
  const [view, frame] = await Promise.all([answer.view(), loadFrame(visit)])
  return writePage(reply, { view, visit, request, frame })
}

/** A page without what is around it: nobody is known. */
export const sendView = (
  reply: FastifyReply,
  { view, visit, request }: Sending & { view: View },
): Promise<FastifyReply> => writePage(reply.headers(pageHeaders), { view, visit, request, frame: bareFrame })

function writePage(
  reply: FastifyReply,
  { view, visit, request, frame }: Sending & { view: View; frame: Frame },
): Promise<FastifyReply> {
  if (view.status !== undefined) reply.code(view.status)
  const noticed = { ...view, main: html`${noticeOf(visit)}${view.main}` }
  const markup = pageBelow(pageDocument(noticed, visit, frame).toString(), request.server.basePath)
  return write(reply, request, 'text/html; charset=utf-8', markup)
}

/** As the links of the page have it. */
const linksBelow = (base: string) =>
  base === ''
    ? undefined
    : (key: string, value: unknown): unknown =>
        key === 'href' && typeof value === 'string' && value.startsWith('/') ? `${base}${value}` : value

function noticeOf(visit: Visit): Html | undefined {
  const [word = '', says] = Object.entries(notices).find(([word]) => word === visit.query.get('done')) ?? []
  return says === undefined
    ? undefined
    : html`<div class="notice" id="done" role="status"><p>${says}</p>${undoForm(visit, word)}</div>`
}

/** Takes back what the notice tells of. */
function undoForm(visit: Visit, done: string): Html | false {
  const of = visit.query.get('undo')
  if (of === null || !undoable.has(done) || !visit.steers) return false
  return html`<form method="post" action="/mail/undo">${proof(visit.csrf)}<input type="hidden" name="next" value="${urlWith(visit, { done: undefined, undo: undefined })}"><input type="hidden" name="done" value="${done}"><button class="quiet" name="of" value="${of}">Undo</button></form>`
}

/** Below this, headers weigh more than what is saved. */
const smallest = 1000
const zip = promisify(gzip)
const squeeze = promisify(brotliCompress)

/** A window of 256 KB, as long as a page is: brotli's own takes 4 MB in each of the threads that compress. */
const params = { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 }

async function write(
  reply: FastifyReply,
  { headers }: FastifyRequest,
  type: string,
  text: string,
): Promise<FastifyReply> {
  reply.header('content-type', type)
  const encoding = text.length < smallest ? undefined : encodingOf(headers)
  if (encoding === undefined) return reply.send(text)
  reply.header('content-encoding', encoding)
  if (encoding === 'gzip') return reply.send(await zip(text, { level: 5 }))
  return reply.send(await squeeze(text, { params }))
}

interface Failing {
  readonly thrown: unknown
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly visits: Visits
  readonly log: Log
}

/** Without credentials a browser is led to the login; everyone else is told (web.login.redirect). */
export async function fail({ thrown, request, reply, visits, log }: Failing): Promise<FastifyReply> {
  const { error, status } = readError(thrown)
  if (isUnexpected(error) && !isCutOff(request.raw)) log.error({ err: thrown }, 'a page failed')
  const { headers, method, url } = request
  if (status === 401 && isBrowser(headers))
    return reply.redirect(withQuery('/mail/login', { next: method === 'GET' ? url : undefined }), 303)
  reply.code(status).headers(pageHeaders)
  if (error.retryAfter !== undefined) reply.header('retry-after', String(error.retryAfter))
  const wantsPage =
    isBrowser(headers) ||
    (method === 'GET' && formOf(headers, new URL(url, 'http://parley.invalid').searchParams) === 'html')
  if (!wantsPage || status === 401) return reply.send(errorShape(error))
  const visit = await visits.anonymous(request, reply)
  const frame = await knownFrame(visits, request, reply)
  return writePage(reply, { view: errorView({ error, status }, visit), visit, request, frame })
}

/** An error page shows the menu to those who may see it, as long as that can be read at all. */
async function knownFrame(visits: Visits, request: FastifyRequest, reply: FastifyReply): Promise<Frame> {
  try {
    return await loadFrame(await visits.admitted(request, reply))
  } catch {
    return bareFrame
  }
}
