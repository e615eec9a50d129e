/** The runs door, for `parley run`: mail on loan for a fresh agent, until its command ends. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { HubError } from '../../base/errors.ts'
import { commons } from '../../base/names.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { borrowMail, endRun, renewRun } from '../../core/presence/runs.ts'
import { toRun } from './first-prompt.ts'

const named = z.looseObject({
  agent: z.string().min(1).max(200),
  project: z.string().min(1).max(4096).default(commons),
})

const waited = named.extend({
  session: z.string().min(1).max(200).default('run'),
  seconds: z.coerce.number().min(0).default(25),
})

const ended = z.looseObject({ handled: z.boolean() })

function read<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const result = schema.safeParse(given)
  if (result.success) return result.data
  throw new HubError('INVALID_ARGUMENT', 'The request names no agent, or lacks a field.', {
    hint: 'POST /runs?agent=NAME&seconds=25; then /runs/{run}/renew?agent=NAME, and /runs/{run}/end with {"handled": true}.',
  })
}

interface OfRun {
  readonly Params: { readonly run: string }
}

export function mountRuns(app: FastifyInstance, hub: Hub): void {
  const stopping = new AbortController()
  app.addHook('preClose', async () => stopping.abort())
  const config = { emptyBody: true }

  app.post('/runs', { config }, async (request, reply) => {
    const { agent: name, project, session, seconds } = read(waited, request.query)
    const gone = new AbortController()
    reply.raw.once('close', () => gone.abort())
    const signals = [gone.signal, stopping.signal]
    const found = await borrowMail(
      hub,
      { caller: request.caller, project, name },
      { waitMs: seconds * 1000, signals, door: 'runs', session },
    )
    if (found === undefined) return reply.code(204).send()
    const { raw } = reply
    const putBack = () => {
      if (raw.writableFinished) return
      found.putBack().catch((error: unknown) => hub.log.warn({ err: error }, 'the mail of a lost run comes back later'))
    }
    if (raw.closed || raw.destroyed) putBack()
    else raw.once('close', putBack)
    return reply.header('cache-control', 'no-store').send(toRun(name, found))
  })

  app.post<OfRun>('/runs/:run/renew', { config }, async (request) => {
    const { agent: name, project } = read(named, request.query)
    return { held: await renewRun(hub, { caller: request.caller, project, name }, request.params.run) }
  })

  app.post<OfRun>('/runs/:run/end', async (request) => {
    const { agent: name, project } = read(named, request.query)
    const { handled } = read(ended, request.body)
    const { run } = request.params
    return { ended: await endRun(hub, { caller: request.caller, project, name }, { run, handled }), handled }
  })
}
