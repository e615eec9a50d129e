/** The APIs of models that clients speak: how a request is read, and how an answer is written. */
import type { Asked, Reply } from './model.ts'

type Read = Pick<Asked, 'fresh' | 'tools' | 'afterTool'>

interface Dialect {
  readonly path: RegExp
  read(body: never): Read
  write(reply: Reply, given: { readonly streams: boolean }): string
}

interface Turn {
  readonly role: string
  readonly text: string
  readonly isTool: boolean
}

/** The turns after the last one of the model. */
function sinceModel(turns: readonly Turn[], model: string): Pick<Read, 'fresh' | 'afterTool'> {
  const last = turns.findLastIndex(({ role }) => role === model)
  const fresh = turns.slice(last + 1)
  return { fresh, afterTool: fresh.some(({ isTool }) => isTool) }
}

const textIn = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content.map(textIn).join('\n')
      : typeof content === 'object' && content !== null
        ? Object.values(content).map(textIn).join('\n')
        : ''

const sse = (events: readonly (readonly [name: string | undefined, data: unknown])[]): string =>
  events
    .map(
      ([name, data]) =>
        `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
    )
    .join('')

let count = 0
const next = (prefix: string) => `${prefix}_${++count}`

interface Messages {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly tools?: readonly { readonly name?: string; readonly function?: { readonly name: string } }[]
}

const anthropic: Dialect = {
  path: /\/v1\/messages(\?|$)/,
  read({ messages, tools = [] }: Messages) {
    const turns = messages.map(({ role, content }) => ({
      role,
      text: textIn(content),
      isTool: Array.isArray(content) && content.some((part: { type?: string }) => part.type === 'tool_result'),
    }))
    return { ...sinceModel(turns, 'assistant'), tools: tools.flatMap(({ name }) => name ?? []) }
  },
  write(reply, { streams }) {
    const usage = { input_tokens: 1, output_tokens: 1 }
    const isTool = 'tool' in reply
    const whole = isTool
      ? { type: 'tool_use', id: next('toolu'), name: reply.tool, input: reply.args }
      : { type: 'text', text: reply.text }
    const stop = { stop_reason: isTool ? 'tool_use' : 'end_turn', stop_sequence: null }
    const message = { id: next('msg'), type: 'message', role: 'assistant', model: 'scripted', usage }
    if (!streams) return JSON.stringify({ ...message, content: [whole], ...stop })
    const begin = isTool ? { ...whole, input: {} } : { type: 'text', text: '' }
    const delta = isTool
      ? { type: 'input_json_delta', partial_json: JSON.stringify(reply.args) }
      : { type: 'text_delta', text: reply.text }
    const event = (type: string, more: object): [string, object] => [type, { type, ...more }]
    return sse([
      event('message_start', { message: { ...message, content: [], stop_reason: null, stop_sequence: null } }),
      event('content_block_start', { index: 0, content_block: begin }),
      event('content_block_delta', { index: 0, delta }),
      event('content_block_stop', { index: 0 }),
      event('message_delta', { delta: stop, usage }),
      event('message_stop', {}),
    ])
  },
}

interface Responses {
  readonly input: readonly {
    readonly type?: string
    readonly role?: string
    readonly content?: unknown
    readonly output?: unknown
  }[]
  readonly tools?: readonly {
    readonly type: string
    readonly name: string
    readonly tools?: readonly { readonly name: string }[]
  }[]
}

const responses: Dialect = {
  path: /\/responses(\?|$)/,
  read({ input, tools = [] }: Responses) {
    const turns = input.map(({ type = 'message', role = '', content, output }) => ({
      role: type === 'function_call' || role === 'assistant' ? 'assistant' : role || type,
      text: textIn(content ?? output),
      isTool: /call_output$/.test(type),
    }))
    const names = tools.flatMap(({ name, tools: own }) => own?.map((one) => `${name}::${one.name}`) ?? name ?? [])
    return { ...sinceModel(turns, 'assistant'), tools: names.map((name) => name.replace('::', '.')) }
  },
  write(reply) {
    const [namespace, name] = 'tool' in reply ? split(reply.tool) : []
    const item =
      'tool' in reply
        ? {
            type: 'function_call',
            id: next('fc'),
            call_id: next('call'),
            name,
            ...(namespace && { namespace }),
            arguments: JSON.stringify(reply.args),
          }
        : {
            type: 'message',
            id: next('msg'),
            role: 'assistant',
            content: [{ type: 'output_text', text: reply.text, annotations: [] }],
          }
    const response = {
      id: next('resp'),
      object: 'response',
      status: 'completed',
      output: [item],
      usage: {
        input_tokens: 1,
        input_tokens_details: null,
        output_tokens: 1,
        output_tokens_details: null,
        total_tokens: 2,
      },
    }
    const event = (type: string, more: object): [string, object] => [type, { type, ...more }]
    return sse([
      event('response.created', { response: { ...response, status: 'in_progress', output: [] } }),
      event('response.output_item.added', { output_index: 0, item }),
      event('response.output_item.done', { output_index: 0, item }),
      event('response.completed', { response }),
    ])
  },
}

/** A tool in a namespace is called by both. */
function split(tool: string): [string | undefined, string] {
  const at = tool.lastIndexOf('.')
  return at < 0 ? [undefined, tool] : [tool.slice(0, at), tool.slice(at + 1)]
}

const chat: Dialect = {
  path: /\/chat\/completions(\?|$)/,
  read({ messages, tools = [] }: Messages) {
    const turns = messages.map(({ role, content }) => ({ role, text: textIn(content), isTool: role === 'tool' }))
    return { ...sinceModel(turns, 'assistant'), tools: tools.flatMap((tool) => tool.function?.name ?? []) }
  },
  write(reply, { streams }) {
    const isTool = 'tool' in reply
    const calls = isTool
      ? [
          {
            index: 0,
            id: next('call'),
            type: 'function',
            function: { name: reply.tool, arguments: JSON.stringify(reply.args) },
          },
        ]
      : undefined
    const said = { role: 'assistant', ...(isTool ? { content: null, tool_calls: calls } : { content: reply.text }) }
    const base = { id: next('chat'), created: 1, model: 'scripted' }
    const reason = isTool ? 'tool_calls' : 'stop'
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    if (!streams) {
      const choices = [{ index: 0, message: said, finish_reason: reason }]
      return JSON.stringify({ ...base, object: 'chat.completion', choices, usage })
    }
    const chunk = (delta: object, finish: string | null, more: object = {}) =>
      [
        undefined,
        { ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }], ...more },
      ] as const
    return sse([chunk(said, null), chunk({}, reason, { usage }), [undefined, '[DONE]']])
  },
}

interface Contents {
  readonly contents: readonly { readonly role?: string; readonly parts: readonly object[] }[]
  readonly tools?: readonly { readonly functionDeclarations?: readonly { readonly name: string }[] }[]
}

const gemini: Dialect = {
  path: /:(streamGenerateContent|generateContent)(\?|$)/,
  read({ contents, tools = [] }: Contents) {
    const turns = contents.map(({ role = 'user', parts }) => ({
      role,
      text: textIn(parts),
      isTool: parts.some((part) => 'functionResponse' in part),
    }))
    const names = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name))
    return { ...sinceModel(turns, 'model'), tools: names }
  },
  write(reply, { streams }) {
    const part = 'tool' in reply ? { functionCall: { name: reply.tool, args: reply.args } } : { text: reply.text }
    const whole = {
      candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    }
    return streams ? sse([[undefined, whole]]) : JSON.stringify(whole)
  },
}

export const dialects: readonly Dialect[] = [anthropic, responses, chat, gemini]
