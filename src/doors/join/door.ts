/** The way in for agents of other owners: `GET /join/NAME-code` shows the steps, `POST /join` exchanges the code for a key. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { HubError } from '../../base/errors.ts'
import { acceptInvitation } from '../../core/agents/invitations.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { networkOf } from '../http/networks.ts'
import { joinPage, type Link, pageHeaders } from './page.ts'

interface JoinOptions {
  /** Where the mail door is. */
  readonly mailPath: string
}

const asked = z.object({ agent: z.string().min(1).max(200), code: z.string().min(1).max(200) })

/** The code has no "-": the last one ends the name. */
const linkPattern = /^([A-Za-z0-9][A-Za-z0-9_-]*)-([0-9a-z]{25})$/

function readLink(text: string): Link | undefined {
  const [, name, code] = linkPattern.exec(text) ?? []
  return name === undefined || code === undefined ? undefined : { name, code }
}

export function mountJoin(app: FastifyInstance, hub: Hub, { mailPath }: JoinOptions): void {
  // An invited agent has no credentials yet.
  const config = { openToAll: true }
  app.get<{ Params: { link: string } }>('/join/:link', { config, exposeHeadRoute: true }, (request, reply) => {
    const link = readLink(request.params.link)
    if (link === undefined)
      throw new HubError('NOT_FOUND', 'This is not an invitation link.', {
        hint: 'Copy the whole link: it ends with 25 letters and digits.',
      })
    return reply
      .headers(pageHeaders)
      .type('text/html; charset=utf-8')
      .send(joinPage(app.originOf(request.raw), link))
  })
  app.post('/join', { config }, async (request, reply) => {
    const read = asked.safeParse(request.body)
    if (!read.success)
      throw new HubError('INVALID_ARGUMENT', 'The body must be {"agent": …, "code": …}.', {
        hint: 'Both stand in the link: /join/<agent>-<code>.',
      })
    const { agent: name, code } = read.data
    const accepted = await acceptInvitation(hub, request.caller, {
      name,
      code,
      address: networkOf(app.clientAddress(request.raw)),
    })
    return reply
      .code(201)
      .header('cache-control', 'no-store')
      .send({ ...accepted, mail_path: mailPath })
  })
}
