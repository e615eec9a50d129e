/** Keeps requests in flight on keep-alive connections, on bare sockets: the load must cost less than what it measures. */
import { connect, type Socket } from 'node:net'

export interface Job {
  path: (connection: number) => string
  headers: (connection: number) => Record<string, string>
  body: (connection: number, count: number) => string
  seconds: number
  /** Ends a connection's work early, for example when its mailbox is empty. */
  stop?: (answer: string) => boolean
}

export interface Load {
  calls: number
  errors: number
  /** Microseconds of wall time a call, all connections together. */
  microseconds: number
}

/** One HTTP request as bytes; what changes from call to call is only the body. */
export function request(port: number, path: string, headers: Record<string, string>, body: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n${lines.join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

const lengthHeader = /\r\ncontent-length: (\d+)\r\n/i

/** Calls `done` with each whole answer on the socket. Only what Parley and the floors send: a Content-Length, no chunks. */
export function readAnswers(socket: Socket, done: (head: string, body: string) => void): void {
  let pending = ''
  /** How much must be there before it is worth a look: a text that grows is copied with each. */
  let wanted = 0
  socket.setEncoding('latin1')
  socket.on('data', (chunk) => {
    pending += chunk
    if (pending.length < wanted) return
    for (;;) {
      const end = pending.indexOf('\r\n\r\n')
      if (end < 0) return
      const head = pending.slice(0, end + 2)
      const length = Number(lengthHeader.exec(head)?.[1] ?? 0)
      wanted = end + 4 + length
      if (pending.length < wanted) return
      const body = pending.slice(end + 4, wanted)
      pending = pending.slice(wanted)
      wanted = 0
      done(head, body)
    }
  })
}

/** A connection that stays open from one slice to the next. */
interface Lane {
  readonly socket: Socket
  /** Absent while nothing is asked: a server may close it then. */
  answered: ((head: string, body: string) => void) | undefined
}

function openLane(port: number): Promise<Lane> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    const lane: Lane = { socket, answered: undefined }
    readAnswers(socket, (head, body) => lane.answered?.(head, body))
    socket
      .setNoDelay(true)
      .once('connect', () => resolve(lane))
      .once('error', reject)
      .once('close', () => {
        if (lane.answered !== undefined) throw new Error('a connection of the load was closed')
      })
  })
}

export interface Driver {
  run(job: Job): Promise<Load>
  close(): void
}

export async function openDriver(port: number, connections: number): Promise<Driver> {
  const lanes = await Promise.all(Array.from({ length: connections }, () => openLane(port)))
  return {
    close() {
      for (const { socket } of lanes) socket.removeAllListeners('close').destroy()
    },
    async run({ path, headers, body, seconds, stop }) {
      let calls = 0
      let errors = 0
      const began = process.hrtime.bigint()
      const until = began + BigInt(Math.round(seconds * 1e9))
      const work = (lane: Lane, index: number) =>
        new Promise<void>((resolve) => {
          if (!lane.socket.writable) throw new Error('a connection of the load was closed between two turns')
          const [where, what] = [path(index), headers(index)]
          let count = 0
          const next = () => lane.socket.write(request(port, where, what, body(index, count++)), 'utf8')
          lane.answered = (head, answer) => {
            calls++
            if (!/^HTTP\/1\.1 20[01] /.test(head) || answer.includes('"isError":true')) errors++
            if (process.hrtime.bigint() < until && stop?.(answer) !== true) next()
            else {
              lane.answered = undefined
              resolve()
            }
          }
          next()
        })
      await Promise.all(lanes.map(work))
      return { calls, errors, microseconds: Number(process.hrtime.bigint() - began) / 1000 / calls }
    },
  }
}
