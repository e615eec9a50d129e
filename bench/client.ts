/** One keep-alive connection that makes plain tool calls, for latencies one by one. */
import { connect } from 'node:net'
import { readAnswers, request } from './drive.ts'
import { phrase } from './phrase.ts'

export interface BenchClient {
  call(tool: string, args: Record<string, unknown>): Promise<string>
  close(): void
}

export async function openClient(
  port: number,
  agent: string,
  path = `/agents/${agent}/mcp`,
  headers: Record<string, string> = {},
): Promise<BenchClient> {
  const socket = connect(port, '127.0.0.1')
  await new Promise<void>((resolve, reject) => socket.setNoDelay(true).once('connect', resolve).once('error', reject))
  const waiting: ((body: string) => void)[] = []
  readAnswers(socket, (_head, body) => waiting.shift()?.(body))
  let id = 0
  return {
    call(tool, args) {
      socket.write(request(port, path, headers, phrase('plain').body(id++, tool, args)), 'utf8')
      return new Promise((resolve) => waiting.push(resolve))
    },
    close: () => socket.destroy(),
  }
}

export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * p) / 100))] ?? Number.NaN
}
