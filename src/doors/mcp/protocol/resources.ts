/** `resources/read`: the first resource whose URI or template matches, with its parameters. */
import { isSpecType, ProtocolError, ResourceNotFoundError } from '@modelcontextprotocol/server'
import { HubError } from '../../../base/errors.ts'
import { echo } from '../../../base/text.ts'
import { BareList, RawContent } from '../table.ts'
import { fillVariables } from './fill-arguments.ts'
import type { Json } from './json.ts'
import { type Incoming, invalid, uriOf } from './methods.ts'
import { rpcError } from './refusal.ts'
import type { Service } from './service.ts'

export async function readResource<Scope>(service: Service<Scope>, incoming: Incoming<Scope>): Promise<Json> {
  const { params, exchange } = incoming
  const uri = uriOf(params)
  for (const { resource, template } of service.resources) {
    const given = template.match(uri)
    if (given === undefined) continue
    const values = await fillVariables(service, incoming, { own: resource.own, given })
    const value = await resource.read(values, exchange).catch((error: unknown) => {
      if (error instanceof HubError && error.kind === 'not_found')
        throw missing(uri, service.word(error, exchange.scope))
      throw error
    })
    if (value instanceof RawContent) return { contents: [rawContent(uri, value)] }
    const [shown, beside] = value instanceof BareList ? [value.items, { _meta: value.beside }] : [value, {}]
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(shown), ...beside }] }
  }
  throw misnamed(service, uri) ?? new ResourceNotFoundError(echo(uri))
}

const rawContent = (uri: string, { mimeType, content, beside }: RawContent): Json => ({
  uri,
  mimeType,
  ...(typeof content === 'string' ? { text: content } : { blob: content.toString('base64') }),
  ...(beside && { _meta: beside }),
})

/** The resources of the table, and on the first pages behind them those that depend on who asks. */
export async function listResources<Scope>(
  { door, lists }: Service<Scope>,
  { params, exchange }: Incoming<Scope>,
): Promise<Json> {
  const { cursor } = params
  if (cursor !== undefined && typeof cursor !== 'string') throw invalid('The cursor must be a string.')
  const { resources: own = [], next } = (await door.listResources?.(exchange, cursor)) ?? {}
  const more = own.map((resource) => ({ ...resource, mimeType: 'application/json' }))
  const resources = cursor === undefined ? [...lists.resources, ...more] : more
  return next === undefined ? { resources } : { resources, nextCursor: next }
}

const mostCompleted = 100

/** `completion/complete`: values for a variable of a template; of a template or variable that is not there, none. */
export async function complete<Scope>(service: Service<Scope>, { params, exchange }: Incoming<Scope>): Promise<Json> {
  if (!isSpecType.CompleteRequestParams(params)) throw invalid('completion/complete needs ref and argument.')
  const { ref, argument } = params
  const known =
    ref.type === 'ref/resource' &&
    service.resources.some(
      ({ resource, template }) =>
        (resource.uri === ref.uri || template.uri === ref.uri) && template.variables.includes(argument.name),
    )
  const found = known ? ((await service.door.complete?.(argument.name, argument.value, exchange)) ?? []) : []
  return { completion: { values: found.slice(0, mostCompleted), hasMore: found.length > mostCompleted } }
}

/** A resource that there is, asked for with a parameter that it has not. */
function misnamed<Scope>({ resources }: Service<Scope>, uri: string): HubError | undefined {
  const [path = '', query = ''] = uri.split(/\?(.*)/s)
  const { resource, template } = resources.find(({ template }) => template.match(path) !== undefined) ?? {}
  if (resource === undefined || template === undefined) return undefined
  const { parameters } = template
  const unknown = [...new URLSearchParams(query).keys()].find((name) => !parameters.includes(name)) ?? ''
  const taken = parameters.length === 0 ? 'It takes none.' : `Parameters of this resource: ${parameters.join(', ')}.`
  return new HubError(
    'INVALID_ARGUMENT',
    `The resource ${resource.name} has no parameter ${JSON.stringify(echo(unknown))}.`,
    { hint: taken },
  )
}

/**
 * The subject of a resource does not exist. The protocol wants the URI in the data, and agents read code and hint there; a
 * URI that names no resource at all has the URI alone, by which the SDK's clients know it.
 */
function missing(uri: string, error: HubError): ProtocolError {
  const { code, message, data } = rpcError(error)
  return new ProtocolError(code, message, { uri: echo(uri), ...data })
}
