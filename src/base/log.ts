/** The log: pino, pretty on a terminal, JSON elsewhere; never a token, never a message body. */
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { type DestinationStream, type Logger, pino } from 'pino'
import { moduleBeside } from './modules.ts'
import { traceId } from './tracing.ts'

export type Log = Logger

/** Where it is written to. */
export type LogOutput = NodeJS.WritableStream & { readonly isTTY?: boolean }

/** Headers and fields that carry secrets, wherever an object with them is logged. */
export const secretFields = [
  'authorization',
  'x-api-key',
  'api_key',
  'mcp-session-id',
  'cookie',
  'set-cookie',
  'token',
  'reclaim_token',
  'key',
  'secret',
  'password',
] as const

const paths = secretFields.flatMap((field) => [`["${field}"]`, `*["${field}"]`])

interface LogOptions {
  readonly level: string
  readonly json: boolean
  /** In colours, with the details of an entry below it; else each entry is one plain line. */
  readonly rich?: boolean
  readonly to: LogOutput | DestinationStream
}

const loadPretty = (): typeof import('./pretty.ts')['pretty'] =>
  createRequire(import.meta.url)(fileURLToPath(moduleBeside(import.meta.url, 'pretty'))).pretty

/** A new object each time: pino puts the fields of the line into it. */
function traceOf(): { trace_id?: string } {
  const id = traceId()
  return id === undefined ? {} : { trace_id: id }
}

export function createLog({ level, json, rich = false, to }: LogOptions): Log {
  const stream: DestinationStream = json
    ? to
    : loadPretty()({
        colorize: rich && 'isTTY' in to && to.isTTY === true,
        singleLine: !rich,
        ignore: 'pid,hostname',
        destination: to as NodeJS.WritableStream,
        sync: true,
      })
  return pino({ level, mixin: traceOf, redact: { paths, censor: '[secret]' } }, stream)
}

/** A line of a log on its way to another thread. */
export interface LogLine {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: string
}

/** A log whose lines somebody else writes. */
export function relayLog(level: string, write: (line: LogLine) => void): Log {
  const formatters = { level: (label: string) => ({ level: label }), bindings: () => ({}) }
  const stream = {
    write(text: string) {
      const { level, time: _, msg, ...fields } = JSON.parse(text) as Record<string, unknown>
      write({ level: level as LogLine['level'], fields, message: String(msg ?? '') })
    },
  }
  return pino({ level, formatters }, stream)
}
