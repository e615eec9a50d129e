/** A program of others that speaks over its stdin and stdout: read within bounds, and ended with everything it has started. */
import { type ChildProcess, spawn } from 'node:child_process'
import {
  deserializeMessage,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client'
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio'
import type { Clock } from '../base/clock.ts'
import { killGroup, onProcessExit } from '../base/processes.ts'

interface ProgramOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly clock: Clock
  /** Bytes that it may write between two answers. */
  readonly mostBytes: number
  /** It wrote more: whatever was asked of it has no answer. */
  flooded(): void
}

/** After its stdin has ended it may end by itself for this long, then upon a signal for as long again. */
const leaveMs = 500
/** The count of bytes that the program wrote unasked starts again after this time. */
const forgivenMs = 60_000
/** Bytes that it has not read yet; a program that reads nothing gets no more. */
const mostUnread = 8 << 20

export class Program implements Transport {
  onmessage?: NonNullable<Transport['onmessage']>
  onclose?: NonNullable<Transport['onclose']>
  onerror?: NonNullable<Transport['onerror']>
  /** With `pid` beside it, the client takes this for a program, which may answer a version that it does not know by ending. */
  readonly stderr = null
  readonly #options: ProgramOptions
  readonly #asked = new Set<RequestId>()
  readonly #gone = Promise.withResolvers<void>()
  #child: ChildProcess | undefined
  #line: Buffer[] = []
  #unasked = 0
  #countedFrom = 0

  constructor(options: ProgramOptions) {
    this.#options = options
  }

  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  start(): Promise<void> {
    const { command, args, env, clock } = this.#options
    // The head of a group of its own: what it starts is ended with it, and a Ctrl-C at the terminal is Parley's alone.
    const child = spawn(command, args, {
      env: { ...getDefaultEnvironment(), ...env },
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
    this.#child = child
    this.#countedFrom = clock.monotonic()
    const forget = onProcessExit(() => this.#kill('SIGKILL'))
    const failed = (error: Error) => this.onerror?.(error)
    child.stdin.on('error', failed)
    child.stdout.on('error', failed).on('data', (chunk: Buffer) => this.#read(chunk))
    let cancel = () => {}
    child.once('exit', () => {
      this.#kill('SIGKILL')
      forget()
      // Something that it started may have left the group, and hold its stdout open for ever.
      cancel = clock.after(leaveMs, () => child.stdout.destroy())
    })
    child.once('close', () => {
      cancel()
      this.#gone.resolve()
      this.onclose?.()
    })
    return new Promise((resolve, reject) => {
      child.once('spawn', resolve)
      child.on('error', (error) => {
        if (child.pid !== undefined) return failed(error)
        forget()
        this.#gone.resolve()
        reject(error)
      })
    })
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (!stdin?.writable) throw new Error('The program is gone.')
    if (stdin.writableLength > mostUnread) throw new Error('The program does not read.')
    if (isJSONRPCRequest(message)) this.#asked.add(message.id)
    else if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled')
      this.#asked.delete(message.params?.requestId as RequestId)
    stdin.write(serializeMessage(message))
  }

  async close(): Promise<void> {
    if (this.#child?.pid === undefined) return
    const { clock } = this.#options
    this.#child.stdin?.end()
    const cancel = [
      clock.after(leaveMs, () => this.#kill('SIGTERM')),
      clock.after(2 * leaveMs, () => this.#kill('SIGKILL')),
    ]
    await this.#gone.promise
    for (const one of cancel) one()
  }

  #kill(signal: NodeJS.Signals): void {
    if (this.#child?.pid !== undefined) killGroup(this.#child.pid, signal)
  }

  /** Counted before anything is kept or understood: neither a line without an end nor a million short ones cost much. */
  #read(chunk: Buffer): void {
    const { clock, mostBytes } = this.#options
    if (clock.monotonic() - this.#countedFrom > forgivenMs) this.#forgive()
    for (let from = 0; from < chunk.length; ) {
      const end = chunk.indexOf(0x0a, from)
      const upTo = end < 0 ? chunk.length : end + 1
      this.#unasked += upTo - from
      if (this.#unasked > mostBytes) {
        this.#cutOff()
        return
      }
      this.#line.push(chunk.subarray(from, upTo))
      if (end >= 0) this.#hear(Buffer.concat(this.#line.splice(0)).toString().trim())
      from = upTo
    }
  }

  #cutOff(): void {
    this.#line = []
    this.#child?.stdout?.destroy()
    this.#kill('SIGKILL')
    this.#options.flooded()
  }

  #hear(line: string): void {
    if (line === '') return
    try {
      const message = deserializeMessage(line)
      const answers = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)
      if (answers && message.id !== undefined && this.#asked.delete(message.id)) this.#forgive()
      this.onmessage?.(message)
    } catch (error) {
      this.onerror?.(error as Error)
    }
  }

  #forgive(): void {
    this.#unasked = 0
    this.#countedFrom = this.#options.clock.monotonic()
  }
}
