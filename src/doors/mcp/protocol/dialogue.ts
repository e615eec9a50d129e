/** A tool asks its client: by requests on the stream of its call before 2026-07-28, by the result of the call since. */
import { createHash } from 'node:crypto'
import {
  CLIENT_CAPABILITIES_META_KEY,
  isSpecType,
  type JSONRPCResponse,
  MissingRequiredClientCapabilityError,
} from '@modelcontextprotocol/server'
import { HubError } from '../../../base/errors.ts'
import type { AnswerTo, Dialogue, Question } from '../table.ts'
import { isRecord, type Json } from './json.ts'
import { sendNote } from './logging.ts'
import { type Incoming, invalid } from './methods.ts'
import { Refusal } from './refusal.ts'
import type { Service } from './service.ts'

/** The capability that a client declares for each kind of question. */
const abilities = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
} as const satisfies Record<Question['method'], string>

export type Ability = (typeof abilities)[Question['method']]

export const abilitiesIn = (capabilities: unknown): Ability[] =>
  Object.values(abilities).filter((ability) => isRecord(capabilities) && isRecord(capabilities[ability]))

type Questions = Readonly<Record<string, Question>>
type Answers = Readonly<Record<string, unknown>>

const isAnswer: Readonly<Record<Question['method'], (value: unknown) => boolean>> = {
  'elicitation/create': isSpecType.ElicitResult,
  'sampling/createMessage': isSpecType.CreateMessageResult,
  'roots/list': isSpecType.ListRootsResult,
}

export function openDialogue<Scope>(service: Service<Scope>, incoming: Incoming<Scope>): Dialogue {
  const { can, ask } = incoming.era.name === 'legacy' ? onStream(service, incoming) : byResult(service, incoming)
  return {
    can: (method) => can.includes(abilities[method]),
    ask: async <Asked extends Questions>(questions: Asked) =>
      (await ask(questions)) as { readonly [Name in keyof Asked]: AnswerTo<Asked[Name]> },
    log: (level, data) => sendNote(service, incoming, level, data),
  }
}

interface Way {
  readonly can: readonly Ability[]
  ask(questions: Questions): Promise<Answers>
}

const lacking = (can: readonly Ability[], questions: Questions): Ability[] =>
  Object.values(questions)
    .map(({ method }) => abilities[method])
    .filter((ability) => !can.includes(ability))

/** The client answers with requests of its own, in its session and at the process that asked. */
function onStream<Scope>({ engine }: Service<Scope>, { exchange }: Incoming<Scope>): Way {
  const can = exchange.client?.can ?? []
  const unable = (what: string) => new HubError('INVALID_ARGUMENT', `The client cannot be asked for ${what}.`)

  async function put({ method, params }: Question): Promise<unknown> {
    const { conversation, signal, stopping } = exchange
    const id = engine.ids.token()
    const { promise, resolve, reject } = Promise.withResolvers<JSONRPCResponse>()
    const ended = AbortSignal.any([signal, stopping])
    const end = () => reject(ended.reason)
    ended.addEventListener('abort', end)
    conversation?.asked.set(id, resolve)
    try {
      // Without a session nobody could answer, and without a stream nobody would hear.
      if (conversation === undefined || !exchange.notify(JSON.stringify({ jsonrpc: '2.0', id, method, params })))
        throw unable(abilities[method])
      const answer = await promise
      if ('result' in answer && isAnswer[method](answer.result)) return answer.result
      throw new HubError('INVALID_ARGUMENT', `The client did not answer ${method}.`)
    } finally {
      conversation?.asked.delete(id)
      ended.removeEventListener('abort', end)
    }
  }

  return {
    can,
    async ask(questions) {
      const [missing] = lacking(can, questions)
      if (missing !== undefined) throw unable(missing)
      return Object.fromEntries(
        await Promise.all(Object.entries(questions).map(async ([name, asked]) => [name, await put(asked)])),
      )
    },
  }
}

/** The answers of earlier rounds. They travel with the client, so that any process goes on with the call. */
export interface RequestState {
  /** The call they belong to: its caller, its method and its arguments. */
  readonly of: string
  readonly until: number
  readonly answers: Answers
}

/** As long as a person may take to answer. */
const stateMs = 3_600_000

/** Ends a call with questions in place of its result. */
export class InputRequired extends Error {
  readonly result: Json

  constructor(inputRequests: Questions, requestState: string) {
    super('The call needs answers of its client.')
    this.result = { resultType: 'input_required', inputRequests, requestState }
  }
}

function byResult<Scope>({ door, engine }: Service<Scope>, { message, params, exchange }: Incoming<Scope>): Way {
  const { clock, states } = engine
  const meta = isRecord(params._meta) ? params._meta : {}
  const can = abilitiesIn(meta[CLIENT_CAPABILITIES_META_KEY])
  const { inputResponses = {}, requestState, name, uri: subject = name } = params
  if (!isRecord(inputResponses)) throw invalid('inputResponses must be an object.')
  const of = createHash('sha256')
    .update(JSON.stringify([door.name, exchange.caller.key, exchange.scope, message.method, subject, params.arguments]))
    .digest('base64url')
  const state = typeof requestState === 'string' ? states.read(requestState) : undefined
  if (requestState !== undefined && (state?.of !== of || state.until <= clock.now()))
    throw invalid('The requestState is none of this call, or its time is up. Call again without it.')
  let known: Answers = state?.answers ?? {}

  return {
    can,
    async ask(questions) {
      const missing = lacking(can, questions)
      if (missing.length > 0)
        throw new Refusal(
          400,
          new MissingRequiredClientCapabilityError({
            requiredCapabilities: Object.fromEntries(missing.map((ability) => [ability, {}])),
          }),
        )
      const open: Record<string, Question> = {}
      for (const [name, asked] of Object.entries(questions)) {
        const answer = Object.hasOwn(known, name) ? known[name] : inputResponses[name]
        if (isAnswer[asked.method](answer)) known = { ...known, [name]: answer }
        else open[name] = asked
      }
      if (Object.keys(open).length === 0) return known
      throw new InputRequired(open, states.write({ of, until: clock.now() + stateMs, answers: known }))
    },
  }
}
