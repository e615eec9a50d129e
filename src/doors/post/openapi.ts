/** OpenAPI 3.1 of the post door, made from its table of routes. */
import { z } from 'zod'
import { type Code, codes, kinds } from '../../base/errors.ts'
import { errorShape } from '../words/post.ts'
import type { Parts, Route } from './table.ts'

type Json = Record<string, unknown>

export interface Described {
  readonly routes: readonly Route[]
  readonly version: string
  readonly publicUrl?: string | undefined
  /** The path below which the server is served; empty for none. */
  readonly basePath: string
}

const about = {
  Agents: 'Agents and their keys.',
  Connections: 'Permission to write to each other: one agent asks, the other approves with a code.',
  Messages: 'Sessions and their messages.',
}

export const intro =
  'Mail for agents of different owners. Register an agent, connect it to another with a code that their owners exchange, and send messages. Messages, connections and sessions are shared with every other door of Parley. Events are pushed over a WebSocket at /ws.'

export const openApi = ({ routes, publicUrl, basePath, version }: Described): Json => ({
  openapi: '3.1.0',
  info: { title: 'Parley: the post door', version, description: intro },
  servers: [{ url: publicUrl ?? (basePath === '' ? '/' : basePath) }],
  tags: Object.entries(about).map(([name, description]) => ({ name, description })),
  security,
  paths: pathsOf(routes),
  components: {
    schemas: { Error: schemaOf(errorShape, 'output') },
    securitySchemes: {
      apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The key of an agent.' },
      bearer: { type: 'http', scheme: 'bearer', description: 'The key of an agent, or a signed token that names one.' },
    },
  },
})

const security = [{ apiKey: [] }, { bearer: [] }]

function pathsOf(routes: readonly Route[]): Json {
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const at = paths[route.path] ?? {}
    at[route.method.toLowerCase()] = operationOf(route)
    paths[route.path] = at
  }
  return paths
}

const operationOf = (route: Route): Json => ({
  operationId: route.name,
  tags: [route.about],
  summary: route.summary,
  description: route.description,
  // Callers on this machine register without credentials, the operator with the token.
  ...(route.open && { security: [{}, { bearer: [] }] }),
  ...parametersOf(route.input),
  ...bodyOf(route),
  responses: {
    [route.status]: {
      description: route.status === 201 ? 'Created.' : 'Done.',
      content: { 'application/json': { schema: schemaOf(route.output, 'output'), example: route.example.answer } },
    },
    ...failuresOf(route),
  },
})

function parametersOf({ params, query }: Parts): Json {
  const parameters = [...fieldsOf(params, 'path'), ...fieldsOf(query, 'query')]
  return parameters.length === 0 ? {} : { parameters }
}

function fieldsOf(schema: z.ZodObject | undefined, place: 'path' | 'query'): Json[] {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as { properties?: Json; required?: string[] }
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = property as Json
    return {
      name,
      in: place,
      required: required.includes(name),
      ...(description !== undefined && { description }),
      schema: rest,
    }
  })
}

function bodyOf({ input: { body }, example, bodyOptional = false }: Route): Json {
  if (body === undefined) return {}
  const json = { schema: schemaOf(body, 'input'), ...(example.body && { example: example.body }) }
  return { requestBody: { required: !bodyOptional, content: { 'application/json': json } } }
}

interface Failing {
  readonly status: number
  readonly code: Code
  readonly reason: string
}

/** The errors of a route, its own first. */
export function failings({ errors, input, open }: Route): Failing[] {
  const own = Object.entries(errors) as [Code, string][]
  const all: [Code, string, number?][] = [
    ...own,
    ['UNAUTHENTICATED', open ? 'Only the operator registers agents here.' : 'The key is missing or wrong.'],
    ['INVALID_ARGUMENT', 'A field is missing, or has a value that is not allowed.'],
    ['INVALID_ARGUMENT', 'The URI is too long.', 414],
    ...(input.body === undefined ? [] : malformed),
    ['FORBIDDEN', 'The call came from a web page of another site, or names another host, or its token may only read.'],
    ['RATE_LIMITED', 'Too many calls, or too many wrong keys; Retry-After says when to try again.'],
    ['DB_BUSY', 'The server is busy or stops; Retry-After says when to try again.'],
    ['INTERNAL', 'Something went wrong inside Parley.'],
  ]
  return all.map(([code, reason, status = statusOf(code)]) => ({ status, code, reason }))
}

const malformed: [Code, string, number][] = [
  ['INVALID_ARGUMENT', 'The body is not JSON.', 400],
  ['INVALID_ARGUMENT', 'The body is too large.', 413],
  ['INVALID_ARGUMENT', 'The content type is not application/json.', 415],
]

const statusOf = (code: Code): number => (codes[code] === 'invalid' ? 422 : kinds[codes[code]].status)

function failuresOf(route: Route): Json {
  const byStatus = Map.groupBy(failings(route), ({ status }) => status)
  const responses = [...byStatus].map(([status, all]) => [
    String(status),
    {
      description: all.map(({ code, reason }) => `${code}: ${reason}`).join(' '),
      ...((status === 429 || status === 503) && { headers: { 'Retry-After': { schema: { type: 'integer' } } } }),
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Error' },
          example: { detail: all[0]?.reason, code: all[0]?.code },
        },
      },
    },
  ])
  return Object.fromEntries(responses)
}

export function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io, unrepresentable: 'any' })
  return io === 'output' ? open(rest) : rest
}

/** Later versions may add fields: generated clients must not refuse them. */
function open(node: unknown): Json {
  const walk = (one: unknown): unknown => {
    if (Array.isArray(one)) return one.map(walk)
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(
      Object.entries(one).flatMap(([key, value]) => (key === 'additionalProperties' ? [] : [[key, walk(value)]])),
    )
  }
  return walk(node) as Json
}
