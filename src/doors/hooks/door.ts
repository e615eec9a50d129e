/** The hooks door: what clients call at the moments of a session, and what wakes them. Whatever fails, the client works on. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { HubError, kinds } from '../../base/errors.ts'
import type { Caller } from '../../core/access/callers.ts'
import type { Hub } from '../../core/hub/hub.ts'
import {
  announce,
  awaitMail,
  confirmAnnounced,
  noteAccepted,
  notePrompt,
  returnAnnounced,
} from '../../core/presence/announce.ts'
import { bindSession, findHookAgent, type HookSaid } from '../../core/presence/binding.ts'
import type { Pointer } from '../../core/presence/pointer.ts'
import { noteStep } from '../../core/presence/sessions.ts'
import { parseAddress } from '../words/addresses.ts'
import { answerOf, type Moment, momentOf, turnConfirms } from './dialects.ts'
import { registeredBy } from './naming.ts'
import { greeting, mark, toPointer } from './pointer.ts'

/** A turn of the client waits for the answer. */
const answerMs = 25

const named = z.looseObject({
  agent: z.string().min(1).max(200).optional(),
  project: z.string().min(1).max(4096).optional(),
})

const waited = named.extend({
  session: z.string().min(1).max(200).optional(),
  client: z.string().min(1).max(32).default('unknown'),
  seconds: z.coerce.number().min(0).default(25),
  since: z.coerce.number().int().min(0).optional(),
})

/** The part of a payload that is used; a new version may have any other fields. */
const payload = z.looseObject({
  session_id: z.string().min(1).max(200).catch(''),
  prompt: z.string().catch(''),
  cwd: z.string().max(4096).optional().catch(undefined),
  source: z.string().catch(''),
  hook_event_name: z.string().catch(''),
})

type Query = z.output<typeof named>
type Payload = z.output<typeof payload>

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
      const hook = { client, event, moment, payload: body.data }
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
    const { acting, of, body, seconds, since } = await waiterOf(hub, request)
    const gone = new AbortController()
    reply.raw.once('close', () => gone.abort())
    const found = await awaitMail(hub, acting, {
      via: of.client,
      session: of.session,
      // Where a client begins a waiter at the end of each turn, no other hook of it may say so.
      turnEnded: momentOf(of.client, body.hook_event_name) === 'stop',
      waitMs: seconds * 1000,
      ...(since !== undefined && { since }),
      signals: [gone.signal, stopping.signal],
      door: 'hooks',
    })
    if (found === 'displaced') return reply.code(409).send({ displaced: true })
    if (found === undefined) return reply.code(204).send()
    // Written is not read: the waiter says what became of it.
    whenOver(hub, reply, found, async () => {})
    return reply.header('cache-control', 'no-store').send(toPointer(acting.name, found))
  })

  app.post('/hooks/told', { config }, async (request, reply) => {
    const { acting, of } = await waiterOf(hub, request)
    await noteAccepted(hub, acting, { ...of, turnConfirms: turnConfirms(of.client) })
    return reply.code(204).send()
  })

  app.post('/hooks/returned', { config }, async (request, reply) => {
    const { acting, of } = await waiterOf(hub, request)
    await returnAnnounced(hub, acting, of)
    return reply.code(204).send()
  })
}

/** The waiter of a request; one that names no session is that of its client. */
async function waiterOf(hub: Hub, { caller, query, body: sent }: FastifyRequest) {
  const read = waited.safeParse(query)
  const body = payload.safeParse(sent ?? {})
  if (!read.success || !body.success)
    throw new HubError('INVALID_ARGUMENT', 'The query or the payload cannot be read: a wrong number of seconds, say.', {
      hint: usage,
    })
  const { client, seconds, since } = read.data
  const of = { client, session: read.data.session ?? (body.data.session_id || client) }
  const who = await needHookAgent(hub, caller, { ...saidBy(read.data, body.data), ...of })
  return { acting: { caller, ...who, registered: true }, of, body: body.data, seconds, since }
}

const usage = 'POST /hooks/wait?agent=NAME&session=ID&client=claude&seconds=25'

interface Hook {
  readonly client: string
  readonly event: string
  readonly moment: Moment
  readonly payload: Payload
}

interface Answer {
  readonly body: Readonly<Record<string, unknown>>
  readonly pointer: Pointer | undefined
}

const nothing: Answer = { body: {}, pointer: undefined }

/** Name@project is taken for both, as elsewhere. */
function saidBy({ agent, project }: Query, { cwd }: Payload): Omit<HookSaid, 'client' | 'session'> {
  const [name, home] = agent === undefined ? [] : parseAddress(agent)
  return { name, project: project ?? home, folder: cwd }
}

async function needHookAgent(hub: Hub, caller: Caller, said: HookSaid) {
  const who = await findHookAgent(hub, caller, said)
  if (who !== undefined) return who
  throw new HubError('AGENT_NOT_FOUND', 'Nobody knows yet which agent this session is.', {
    hint: `Name it (${usage}), or let it register: the hook after that binds the session.`,
  })
}

async function answer(hub: Hub, request: FastifyRequest, query: Query, hook: Hook): Promise<Answer> {
  const { client, event, moment, payload } = hook
  const { caller } = request
  const of = { client, session: payload.session_id }
  const registered = moment === 'tool' && query.agent === undefined ? registeredBy(payload) : undefined
  if (registered !== undefined) await bindSession(hub, { caller, ...registered }, of)
  const who = await findHookAgent(hub, caller, { ...saidBy(query, payload), ...of })
  if (who === undefined) return nothing
  const acting = { caller, ...who, registered: true }
  await noteStep(hub, acting, of, payload.source === 'compact' ? 'compact' : moment)
  if (moment === 'end') return nothing
  if (moment === 'turn' && payload.prompt.includes(mark)) await confirmAnnounced(hub, acting, of.session)
  else if (moment === 'turn' && payload.prompt !== '') await notePrompt(hub, acting)
  const greetings = moment === 'start' ? [await greeting(hub, caller, who)] : []
  // Last, because nothing may fail with it in hand.
  const pointer = await announce(hub, acting, {
    via: client,
    session: of.session,
    reminds: moment === 'turn',
    unlessWaiting: moment === 'stop',
    wakes: moment === 'stop',
  })
  const texts = [...greetings, ...(pointer === undefined ? [] : [toPointer(who.name, pointer).text])]
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
  const { pointer } = first
  // The client adds it to what its model reads.
  if (pointer !== undefined) whenOver(hub, reply, pointer, () => pointer.confirm())
  return first.body
}

/** The client may be gone before there is an answer: then nothing closes any more. */
function whenOver(hub: Hub, { raw }: FastifyReply, pointer: Pointer, written: () => Promise<void>): void {
  const over = () => {
    const work = raw.writableFinished ? written() : pointer.putBack()
    work.catch((error: unknown) => hub.log.warn({ err: error }, 'mail is announced again later'))
  }
  if (raw.closed || raw.destroyed) over()
  else raw.once('close', over)
}
