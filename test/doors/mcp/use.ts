/** Support for tests of the engine: the fixture for the length of one test, the official client, and plain HTTP. */
import { once } from 'node:events'
import { type IncomingHttpHeaders, request } from 'node:http'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import { type Fixture, type FixtureOptions, startFixture } from './fixture.ts'

export async function useFixture(options: FixtureOptions = {}): Promise<Fixture> {
  const fixture = await startFixture(options)
  onTestFinished(fixture.close)
  return fixture
}

export const eras = ['2025-11-25', '2026-07-28'] as const
export type EraName = (typeof eras)[number]

/** A client that will speak one era and no other. */
export function newClient(era: EraName): Client {
  const mode = era === '2026-07-28' ? { pin: era } : ('legacy' as const)
  return new Client({ name: 'tester', version: '4.5.6' }, { capabilities, versionNegotiation: { mode } })
}

/** The questions that the client says it can answer. */
export const capabilities = { elicitation: {}, sampling: {} }

export async function connect(
  url: string,
  era: EraName,
): Promise<{ client: Client; transport: StreamableHTTPClientTransport }> {
  const client = newClient(era)
  onTestFinished(() => client.close())
  const transport = new StreamableHTTPClientTransport(new URL(url))
  await client.connect(transport)
  return { client, transport }
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body as JSON; of a stream, its last event. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any
}

export interface Sent {
  readonly method?: string
  readonly headers?: Record<string, string>
  /** Text is sent as it is, anything else as JSON. */
  readonly body?: unknown
}

/** One HTTP request, exactly as given: no header is added but the content type of a body. */
export function http(url: string, { method = 'POST', headers = {}, body }: Sent = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
    const sent = request(url, { method, headers: { ...type, ...headers }, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parse(text) }),
      )
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body))
  })
}

function parse(text: string): unknown {
  const data = text.split('\n').findLast((line) => line.startsWith('data: '))
  try {
    return JSON.parse(data?.slice(6) ?? text)
  } catch {
    return undefined
  }
}

export const both = 'application/json, text/event-stream'

/** A JSON-RPC request. */
export const rpc = (method: string, params?: object, id: string | number = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})

export const call = (name: string, args: object = {}, meta?: object) =>
  rpc('tools/call', { name, arguments: args, _meta: meta })

/** Opens a session and returns its token. */
export async function openSession(url: string, headers: Record<string, string> = {}): Promise<string> {
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'tester', version: '4.5.6' } }
  const answer = await http(url, { headers: { accept: both, ...headers }, body: rpc('initialize', params) })
  return String(answer.headers['mcp-session-id'])
}

/** Opens the GET stream of a session, to be read event by event. */
export async function openStream(url: string, token: string) {
  const sent = request(url, { headers: { accept: 'text/event-stream', 'mcp-session-id': token }, agent: false })
  onTestFinished(() => void sent.destroy())
  sent.end()
  const [response] = await once(sent, 'response')
  response.setEncoding('utf8').on('error', () => {})
  return {
    status: response.statusCode as number,
    next: async () => String((await once(response, 'data'))[0]),
    ended: async () => {
      response.resume()
      await once(response, 'end')
    },
  }
}
