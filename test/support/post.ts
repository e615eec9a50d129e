/** The post door as its clients call it: agents with their keys, on a server for each engine. */
import { afterAll, beforeAll, describe } from 'vitest'
import type { Dialect } from '../../src/db/port.ts'
import { engines } from './engines.ts'
import { type Later, type Served, serveHere } from './parley.ts'

/** The tests of a file on both engines, each with one server for all of them. */
export function eachPost(
  title: string,
  tests: (parley: () => Served, dialect: Dialect, url: () => string) => void,
  env: Record<string, string> = {},
): void {
  for (const engine of engines())
    describe(`${title} (${engine.dialect})`, () => {
      const ends: Parameters<Later>[0][] = []
      let served: Served | undefined
      let url: string
      beforeAll(async () => {
        await engine.start()
        url = await engine.create({ empty: false })
        served = await serveHere({ env: { ...env, DATABASE_URL: url }, later: (work) => ends.push(work) })
      })
      afterAll(async () => {
        for (const end of ends.reverse()) await end()
        await engine.remove([url])
        await engine.stop()
      })
      const parley = () => {
        if (served === undefined) throw new Error('Parley has not started yet')
        return served
      }
      tests(parley, engine.dialect, () => url)
    })
}

// biome-ignore lint/suspicious/noExplicitAny: the body of an answer, whose fields each test names
export type Body = any

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

export interface Asking {
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

export async function ask(
  { url }: { url: string },
  method: string,
  path: string,
  asking: Asking = {},
): Promise<Answer> {
  const { body, headers = {} } = asking
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
}

let count = 0

/** A name that no other test of this process has. */
export const freshName = (name: string): string => `${name}-${count++}x`

export type PostAgent = Awaited<ReturnType<typeof register>>

/** An agent with its key, and the calls that it makes. */
export async function register(parley: { url: string }, called: string, { query = '' } = {}) {
  const name = freshName(called)
  const { body } = await ask(parley, 'POST', `/agents/register${query}`, { body: { name } })
  return agentWith(parley, { name, key: body.api_key as string, id: body.id as string })
}

export function agentWith(parley: { url: string }, { name, key, id = '' }: { name: string; key: string; id?: string }) {
  const headers = { 'X-API-Key': key }
  const get = (path: string) => ask(parley, 'GET', path, { headers })
  const post = (path: string, body?: unknown) => ask(parley, 'POST', path, { headers, body })
  return {
    id,
    name,
    key,
    get,
    post,
    put: (path: string, body: unknown) => ask(parley, 'PUT', path, { headers, body }),
    request: (other: { name: string }, message?: string) =>
      post('/connections/request', { target_agent_name: other.name, message }),
    approve: (code: string) => post('/connections/approve', { verification_code: code }),
    send: (other: { name: string }, subject: string | undefined, content: string, more: object = {}) =>
      post('/messages/send', { to: other.name, subject, content, ...more }),
    inbox: (query = '') => get(`/inbox${query}`),
    history: (session: string, query = '') => get(`/sessions/${session}/history${query}`),
  }
}

export async function connect(one: PostAgent, two: PostAgent): Promise<void> {
  const { body } = await one.request(two)
  const { status } = await two.approve(body.verification_code)
  if (status !== 200) throw new Error(`not connected: ${status}`)
}

/** Two agents with an active connection. */
export async function connected(parley: { url: string }): Promise<[PostAgent, PostAgent]> {
  const [one, two] = [await register(parley, 'alice'), await register(parley, 'bob')]
  await connect(one, two)
  return [one, two]
}
