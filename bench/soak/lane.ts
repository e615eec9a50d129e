/** One keep-alive connection that asks one thing after the other, and counts what it was answered. */
import { connect } from 'node:net'
import { readAnswers } from '../drive.ts'
import { type Era, phrase } from '../phrase.ts'

export interface Counts {
  calls: number
  errors: number
  /** The first answer that was an error, for whoever looks for its cause. */
  firstError?: string
}

export interface Lane {
  get(path: string, headers?: Record<string, string>): Promise<string>
  post(path: string, body: object, headers?: Record<string, string>): Promise<string>
  /** A tool call; one in a session names it. */
  call(path: string, tool: string, args: object, session?: string): Promise<string>
}

export async function openLane(port: number, counts: Counts): Promise<Lane> {
  const socket = connect(port, '127.0.0.1')
  await new Promise<void>((resolve, reject) => socket.setNoDelay(true).once('connect', resolve).once('error', reject))
  let answered: ((body: string) => void) | undefined
  readAnswers(socket, (head, body) => {
    counts.calls++
    if (!/^HTTP\/1\.1 20[0-9] /.test(head) || body.includes('"isError":true') || body.includes('"error":{')) {
      counts.errors++
      counts.firstError ??= `${head.slice(0, 60)} ${body.slice(0, 400)}`
    }
    answered?.(body)
  })
  const ask = (method: string, path: string, headers: Record<string, string>, body = ''): Promise<string> => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const length =
      method === 'POST' ? `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` : ''
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${lines.join('')}${length}\r\n${body}`)
    return new Promise((resolve) => {
      answered = resolve
    })
  }
  let id = 0
  return {
    get: (path, headers = {}) => ask('GET', path, headers),
    post: (path, body, headers = {}) => ask('POST', path, headers, JSON.stringify(body)),
    call(path, tool, args, session) {
      const era: Era = session === undefined ? 'plain' : 'session'
      return ask(
        'POST',
        path,
        phrase(era).headers(tool, session),
        phrase(era).body(++id, tool, args as Record<string, unknown>),
      )
    },
  }
}
