/** Runs a tool: arguments in, value or error out, with progress while it takes its time. */
import type { ProgressToken } from '@modelcontextprotocol/server'
import { errorShape, type HubError, isUnexpected } from '../../../base/errors.ts'
import { inCall, isTraced, isTracing, noteInSpan } from '../../../base/tracing.ts'
import { readArguments } from '../args.ts'
import { InputRequired } from './dialogue.ts'
import type { Exchange } from './exchange.ts'
import { Refusal } from './refusal.ts'
import type { Service, ToolRow } from './service.ts'

export type Result = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: HubError }

interface Call<Scope> {
  readonly service: Service<Scope>
  readonly row: ToolRow<Scope>
  /** As the client wrote them, with what the connection tells; absent or null is none. */
  readonly args: unknown
  /** The reason that the arguments do not agree with the connection. */
  readonly fault?: HubError | undefined
  readonly exchange: Exchange<Scope>
  /** The `_meta` of the call: it may name the trace of the client. */
  readonly meta?: unknown
}

export function runTool<Scope>(call: Call<Scope>): Promise<Result> {
  if (!isTracing()) return runNow(call)
  const { name } = call.row.tool
  const about = { 'parley.door': call.service.door.name, 'parley.tool': name }
  return inCall(`tool ${name}`, call.meta, () => runNow(call), about)
}

async function runNow<Scope>({ service, row, args, fault, exchange }: Call<Scope>): Promise<Result> {
  const { clock, log } = service.engine
  const [at, started] = [clock.now(), clock.monotonic()]
  let result: Result
  try {
    if (fault !== undefined) throw fault
    result = { ok: true, value: await row.tool.run(readArguments(row.tool, args), exchange) }
  } catch (thrown) {
    // The client is asked first, or cannot be asked: no result of the tool. It is counted when there is one.
    if (thrown instanceof InputRequired || thrown instanceof Refusal) throw thrown
    const error = service.word(thrown, exchange.scope, row)
    if (isUnexpected(error) && !exchange.over)
      log.error(
        { err: thrown, reqId: exchange.requestId, door: service.door.name, tool: row.tool.name },
        'a tool failed',
      )
    // The client never hears of anything that the call did before it failed.
    await exchange.takeBack()
    result = { ok: false, error }
  }
  const outcome = exchange.over ? 'cancelled' : result.ok ? 'ok' : 'error'
  if (isTraced()) noteInSpan({ 'parley.outcome': outcome, ...(!result.ok && { 'error.type': result.error.code }) })
  exchange.noteCall({ door: service.door.name, tool: row.tool.name, outcome })
  row.ended({ reqId: exchange.requestId, outcome, at, ms: Math.round(clock.monotonic() - started), args })
  return result
}

/** The text every client can show, and whether it may also travel as structured content (all.result.twice). */
export function resultText(
  { tool }: Pick<ToolRow<never>, 'tool'>,
  result: Result,
): { text: string; structured: boolean } {
  if (!result.ok) return { text: JSON.stringify(errorShape(result.error)), structured: true }
  if (tool.output === undefined) return { text: String(result.value), structured: false }
  return { text: JSON.stringify(tool.wrapped ? { result: result.value ?? null } : result.value), structured: true }
}

const progressMs = 5000

/** Tells a waiting client every few seconds that its call is alive: some give up after a minute of silence. */
export function startProgress<Scope>(
  { engine }: Service<Scope>,
  token: ProgressToken,
  exchange: Exchange<Scope>,
): () => void {
  const { clock } = engine
  const started = clock.monotonic()
  const tick = () => {
    if (exchange.over) return
    const progress = Math.round((clock.monotonic() - started) / 1000)
    exchange.notify(
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress } }),
    )
    cancel = clock.after(progressMs, tick)
  }
  let cancel = clock.after(progressMs, tick)
  return () => cancel()
}
