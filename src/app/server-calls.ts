/** Tool calls and resources of a running server, as one POST each: for `parley call`, `parley resource` and `doctor --endpoints`. */
import { type Code, codes, HubError } from '../base/errors.ts'
import { parsedJson } from '../base/json.ts'
import type { CallWish, ServerCalls } from '../doors/cli/serving/call.ts'
import { targetOf } from '../doors/connect/target.ts'
import { Lost } from '../doors/connect/wire.ts'
import type { Config } from '../settings/all.ts'
import { ask, refusal } from './asking.ts'
import type { Surroundings } from './command-parts.ts'
import { doorCalling } from './connect.ts'
import { serverAt } from './server-place.ts'
import { tokenFor } from './token.ts'

/** Above the longest wait of a tool, unless MAX_WAIT_SECONDS was raised. */
const patienceMs = 90_000

interface Called {
  readonly config: Config
  readonly env: Surroundings['env']
}

interface Result {
  readonly structuredContent?: unknown
  readonly content?: readonly { readonly text?: string }[]
  readonly contents?: readonly { readonly text?: string }[]
  readonly isError?: boolean
}

export const serverCalls = (called: () => Called): ServerCalls => ({
  async tool(name, args, wish) {
    const {
      structuredContent,
      content = [],
      isError,
    } = await rpc(called(), wish, 'tools/call', {
      name,
      arguments: args,
    })
    if (isError) throw toolError(structuredContent, content[0]?.text)
    return structuredContent ?? content.map(({ text = '' }) => text).join('\n')
  },
  async resource(uri, wish) {
    const { contents = [] } = await rpc(called(), wish, 'resources/read', { uri })
    const [first, ...others] = contents
    if (first?.text === undefined || others.length > 0) return { contents }
    return parsedJson(first.text) ?? first.text
  },
})

/** One request of the protocol without a session; throws what the server refuses. */
export async function rpc(called: Called, wish: CallWish, method: string, params: object): Promise<Result> {
  const { url, headers } = addressOf(called, wish)
  try {
    const { status, text } = await ask(url, {
      headers,
      body: { jsonrpc: '2.0', id: 1, method, params },
      patienceMs,
    })
    const answer = parsedJson(text) as { result?: Result; error?: { message?: unknown } } | undefined
    if (answer?.result !== undefined) return answer.result
    if (
      typeof answer?.error?.message === 'string' &&
      !('code' in answer.error && typeof answer.error.code === 'string')
    )
      throw new HubError('INVALID_ARGUMENT', answer.error.message)
    throw refusal(url, status, answer)
  } catch (error) {
    if (!(error instanceof Lost)) throw error
    throw new HubError('SERVER_UNAVAILABLE', `${url} does not answer.`, {
      hint: '`parley serve --detach` starts a server here; --server names another one.',
      cause: error,
    })
  }
}

function addressOf({ config, env }: Called, wish: CallWish): { url: string; headers: Record<string, string> } {
  const server = serverAt(config, wish.server)
  const calling = doorCalling({ ...wish, server }, env, process.cwd())
  // A script says the project in its arguments, wherever it runs.
  const here = calling.key === undefined ? { ...calling, mailPath: config.HTTP_PATH, project: wish.project } : calling
  const { url, headers } = targetOf(here)
  const secret = calling.key ?? config.PARLEY_API_KEY ?? tokenFor(server, config)
  return {
    url: url.href,
    headers: { ...headers, ...(secret !== undefined && { authorization: `Bearer ${secret}` }) },
  }
}

function toolError(structured: unknown, text = 'The tool failed.'): HubError {
  const { error } = (structured ?? {}) as { error?: { code?: string; message?: string; hint?: string } }
  const code = error?.code !== undefined && error.code in codes ? (error.code as Code) : 'INTERNAL'
  return new HubError(code, error?.message ?? text, error?.hint === undefined ? {} : { hint: error.hint })
}
