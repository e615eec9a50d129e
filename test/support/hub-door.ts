/** The hub door by plain calls, as one agent; errors are thrown with their code. */
import { callTool, type PlainOptions } from './parley.ts'

type Json = Record<string, unknown>

export interface SentShape {
  message_id: number
  thread: string
  seq: number
  created_at: string
  reply?: ReplyShape | null
}

export interface ReplyShape {
  message_id: number
  seq: number
  from: string
  text: string
  created_at: string
}

export interface ThreadShape {
  thread: string
  subject: string
  status: string
  participants: string[]
  messages: (ReplyShape & { reply_to: number | null; next_offset?: number; attachments: { uri: string }[] })[]
  next_cursor: string
  has_more: boolean
}

export function hubDoorOf(
  { url }: { url: string },
  agent: string | undefined,
  options: PlainOptions & { project?: string } = {},
) {
  const query = new URLSearchParams({
    ...(agent !== undefined && { agent }),
    ...(options.project !== undefined && { project: options.project }),
  })
  const endpoint = `${url}/hub/mcp?${query}`
  const call = async <Value = Json>(tool: string, args: Json = {}): Promise<Value> => {
    const { structuredContent, isError } = await callTool(endpoint, tool, args, options)
    if (isError) throw (structuredContent as { error: { code: string } }).error
    return structuredContent as Value
  }
  const read = async <Value = Json>(uri: string): Promise<Value> => JSON.parse((await content(uri)).text ?? 'null')
  const content = async (uri: string) => {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...options.headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri } }),
    })
    const { result, error } = (await response.json()) as {
      result?: { contents: { text?: string; blob?: string; mimeType: string; _meta?: Json }[] }
      error?: { code: number; data?: { code?: string } }
    }
    const [only] = result?.contents ?? []
    if (only === undefined) throw { rpc: error?.code, code: error?.data?.code }
    return only
  }
  return {
    endpoint,
    call,
    read,
    content,
    send: (to: string, text: string, more: Json = {}) => call<SentShape>('apm2.message.send', { to, text, ...more }),
    thread: (thread: string, more: Json = {}) => call<ThreadShape>('apm2.thread.read', { thread, ...more }),
  }
}

export const threadUri = (thread: string): string => `apm2://threads/${encodeURIComponent(thread)}`
