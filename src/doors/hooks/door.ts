/** The hooks door: what clients call at the moments of a session, and what wakes them. Whatever fails, the client works on. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { HubError, kinds } from '../../base/errors.ts'
import { commons } from '../../base/names.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { announce, awaitMail, confirmAnnounced, type Pointer } from '../../core/presence/announce.ts'
import { answerOf, confirmsByTurn, type Moment, momentOf } from './dialects.ts'
import { greeting, mark, toPointer } from './pointer.ts'

/** A turn of the client waits for the answer. */
const answerMs = 25

const named = z.looseObject({
  agent: z.string().min(1).max(200),
  project: z.string().min(1).max(4096).default(commons),
})

const waited = named.extend({
  session: z.string().min(1).max(200).default(''),
  client: z.string().min(1).max(32).default('unknown'),
  seconds: z.coerce.number().min(0).default(25),
})

/** The part of a payload that is used; a new version may have any other fields. */
const payload = z.looseObject({
  session_id: z.string().min(1).max(200).catch(''),
  prompt: z.string().catch(''),
})

type Query = z.output<typeof named>

export function mountHooks(app: FastifyInstance, hub: Hub): void {
  const complaints = new Map<string, number>()
  const complain = (about: string, error?: unknown): void => {
    const day = Math.floor(hub.clock.now() / 86_400_000)
    if (complaints.get(about) === day) return
    if (complaints.size >= 100) complaints.clear()
    complaints.set(about, day)
    hub.log.info({ about, ...(error !== undefined && { err: error }) }, 'a hook was answered with nothing')
  }

  const stopping = new AbortController()
  app.addHook('preClose', async () => stopping.abort())
  const config = { emptyBody: true }

  app.post<{ Params: { client: string; event: string } }>(
    '/hooks/:client/:event',
    { config },
    async (request, reply) => {
      const { client, event } = request.params
      const moment = momentOf(client, event)
      const query = named.safeParse(request.query)
      const body = payload.safeParse(request.body)
      if (moment === undefined || !query.success || !body.success) {
        const wrong = moment === undefined ? 'event' : query.success ? 'payload' : 'query'
        complain(`${wrong} ${client.slice(0, 32)} ${event.slice(0, 32)}`)
        return {}
      }
      const hook = { client, event, moment, session: body.data.session_id, prompt: body.data.prompt }
      try {
        return await inTime(hub, reply, answer(hub, request, query.data, hook))
      } catch (error) {
        // A caller that may not act as the agent learns it by the status; every body is one that a client takes.
        if (error instanceof HubError && (error.kind === 'forbidden' || error.kind === 'unauthenticated'))
          return reply.code(kinds[error.kind].status).send({})
        complain(`failure ${client} ${event}`, error)
        return {}
      }
    },
  )

  // Never GET: a picture on a web page could eat announcements.
  app.post('/hooks/wait', { config }, async (request, reply) => {
    const read = waited.safeParse(request.query)
    if (!read.success)
      throw new HubError('INVALID_ARGUMENT', 'The query names no agent, or has a wrong number of seconds.', {
        hint: 'POST /hooks/wait?agent=NAME&session=ID&client=claude&seconds=25',
      })
    const { agent: name, project, session, client, seconds } = read.data
    const gone = new AbortController()
    reply.raw.once('close', () => gone.abort())
    const found = await awaitMail(
      hub,
      { caller: request.caller, project, name, registered: true },
      {
        via: client,
        session,
        confirms: !confirmsByTurn(client),
        waitMs: seconds * 1000,
        signals: [gone.signal, stopping.signal],
      },
    )
    if (found === 'displaced') return reply.code(409).send({ displaced: true })
    if (found === undefined) return reply.code(204).send()
    ifLost(hub, reply, found)
    return reply.header('cache-control', 'no-store').send(toPointer(name, found))
  })
}

interface Hook {
  readonly client: string
  readonly event: string
  readonly moment: Moment
  readonly session: string
  readonly prompt: string
}

interface Answer {
  readonly body: Readonly<Record<string, unknown>>
  readonly pointer: Pointer | undefined
}

async function answer(
  hub: Hub,
  request: FastifyRequest,
  { agent: name, project }: Query,
  { client, event, moment, session, prompt }: Hook,
): Promise<Answer> {
  const acting = { caller: request.caller, project, name, registered: true }
  if (moment === 'turn' && prompt.includes(mark)) await confirmAnnounced(hub, acting, session)
  const route = { via: client, session, confirms: true, reminds: moment === 'turn', unlessWaiting: moment === 'stop' }
  const pointer = await announce(hub, acting, route)
  const texts = [
    ...(moment === 'start' ? [greeting(name, project)] : []),
    ...(pointer === undefined ? [] : [toPointer(name, pointer).text]),
  ]
  return { body: texts.length === 0 ? {} : answerOf(event, moment, texts.join('\n')), pointer }
}

/** An answer that comes too late is none: its messages are free for the next route. */
async function inTime(hub: Hub, reply: FastifyReply, work: Promise<Answer>): Promise<object> {
  const late = Promise.withResolvers<undefined>()
  const cancel = hub.clock.after(answerMs, () => late.resolve(undefined))
  const first = await Promise.race([work, late.promise]).finally(cancel)
  if (first === undefined) {
    work
      .then(({ pointer }) => pointer?.putBack())
      .catch((error: unknown) => hub.log.debug({ err: error }, 'a hook that came too late has failed'))
    return {}
  }
  if (first.pointer !== undefined) ifLost(hub, reply, first.pointer)
  return first.body
}

/** The client may be gone before there is an answer: then nothing closes any more. */
function ifLost(hub: Hub, { raw }: FastifyReply, pointer: Pointer): void {
  const putBack = () => {
    if (raw.writableFinished) return
    pointer.putBack().catch((error: unknown) => hub.log.warn({ err: error }, 'lost mail is announced again later'))
  }
  if (raw.closed || raw.destroyed) putBack()
  else raw.once('close', putBack)
}
