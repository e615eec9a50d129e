/** A scripted model behind the real APIs of four vendors: it fetches its mail when a pointer comes, and answers all else with a word. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dialects } from './dialects.ts'

/** One request of a client to its model. */
export interface Asked {
  /** By the clock of this process, in ms. */
  readonly at: number
  /** All texts since the model last spoke, with the role that the client gave each. */
  readonly fresh: readonly { readonly role: string; readonly text: string }[]
  readonly tools: readonly string[]
  /** Whether the newest of it is the result of a tool. */
  readonly afterTool: boolean
  readonly body: string
}

export type Reply = { readonly text: string } | { readonly tool: string; readonly args: object }

/** Words in a prompt that make it call a tool of the client: `CALL fetch_inbox {"limit": 5}`. */
const order = /CALL (\w+) (\{.*?\})(?:\s|$)/

const inbox = { include_bodies: true, limit: 3 }

function replyTo({ fresh, tools, afterTool }: Asked): Reply {
  const toolNamed = (end: string) =>
    tools.find(
      (name) => end !== '' && (name === end || (/[._]$/.test(name.slice(0, -end.length)) && name.endsWith(end))),
    )
  const newest = fresh.map(({ text }) => text).join('\n')
  // OpenClaw keeps the tools of MCP servers behind a search.
  const [, found] = (tools.includes('tool_call') && /"id":\s*"([^"]*fetch_inbox)"/.exec(newest)) || []
  // The result of the call names the tool too.
  if (found !== undefined && afterTool && !newest.includes('has_more'))
    return { tool: 'tool_call', args: { id: found, args: inbox } }
  if (afterTool) return { text: 'Done.' }
  const [, wanted = '', args = '{}'] = order.exec(newest) ?? []
  const isPointer = newest.includes('[parley]') && /new messages? for/.test(newest)
  const tool = toolNamed(wanted) ?? (isPointer ? toolNamed('fetch_inbox') : undefined)
  if (isPointer && tool === undefined && tools.includes('tool_search'))
    return { tool: 'tool_search', args: { query: 'fetch_inbox' } }
  const given = wanted === '' ? inbox : (JSON.parse(args) as object)
  return tool === undefined ? { text: 'Fine.' } : { tool, args: given }
}

export interface Model {
  readonly url: string
  readonly requests: readonly Asked[]
  /** Resolves with the first request, of those after `from`, that passes the test. */
  until(test: (asked: Asked) => boolean, given: { from: number; seconds: number; about: string }): Promise<Asked>
  close(): void
}

export async function startModel(): Promise<Model> {
  const requests: Asked[] = []
  const listeners = new Set<() => void>()
  const server = createServer(async (request, response) => {
    const body = await textOf(request)
    const dialect = dialects.find(({ path }) => path.test(request.url ?? ''))
    if (dialect === undefined || request.method !== 'POST') return answerPlainly(request, response)
    const asked = { at: performance.now(), body, ...dialect.read(JSON.parse(body) as never) }
    requests.push(asked)
    for (const tell of listeners) tell()
    const streams = /"stream":\s*true/.test(body) || /stream/i.test(request.url ?? '')
    const events = dialect.write(replyTo(asked), { streams })
    response.writeHead(200, { 'content-type': streams ? 'text/event-stream' : 'application/json' })
    response.end(events)
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    until: (test, { from, seconds, about }) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => {
          listeners.delete(look)
          reject(new Error(`no request of the model within ${seconds} s: ${about}`))
        }, seconds * 1000)
        const look = () => {
          const found = requests.slice(from).find(test)
          if (found === undefined) return
          clearTimeout(late)
          listeners.delete(look)
          resolve(found)
        }
        listeners.add(look)
        look()
      }),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let whole = ''
  for await (const part of request.setEncoding('utf8')) whole += part
  return whole
}

/** Counting tokens, listing models, telling how it went: whatever else a client asks for. */
function answerPlainly({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const body = url.includes('countTokens')
    ? { totalTokens: 10 }
    : url.includes('count_tokens')
      ? { input_tokens: 10 }
      : { data: [] }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
