/** A Redis for tests: a stand-in that speaks its protocol, and a real one where the machine has it. */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, onTestFinished, test } from 'vitest'
import { startRedis, withPassword } from './redis-server.ts'

export interface TestRedis {
  readonly url: string
  readonly real: boolean
  /** One that runs anyway has a password of its own, if any. */
  readonly ours: boolean
}

/** The same tests on both; a real one that is missing is skipped, with the reason in the title. */
export function eachRedis(title: string, tests: (start: (password?: string) => Promise<TestRedis>) => void): void {
  describe(`${title} (stand-in)`, () =>
    tests(async (password) => ({ url: (await startStandIn({ password })).url, real: false, ours: true })))
  eachRealRedis(title, tests)
}

/** For what the stand-in cannot do: scripts. */
export function eachRealRedis(title: string, tests: (start: (password?: string) => Promise<TestRedis>) => void): void {
  const given = process.env.REDIS_URL
  if (given) describe(`${title} (REDIS_URL)`, () => tests(async () => ({ url: given, real: true, ours: false })))
  else if (spawnSync('redis-server', ['--version']).status === 0)
    describe(`${title} (redis-server)`, () =>
      tests(async (password) => ({ url: await startServer(password), real: true, ours: true })))
  else test.skip(`${title}: neither REDIS_URL is set nor is there a redis-server on this machine`, () => {})
}

async function startServer(password?: string): Promise<string> {
  const { url, stop } = await startRedis(password)
  onTestFinished(stop)
  return url
}

export interface StandIn {
  readonly url: string
  /** The commands it got, without their arguments. */
  readonly got: string[]
  readonly sockets: ReadonlySet<Socket>
  stop(): Promise<void>
}

interface StandInOptions {
  readonly port?: number
  readonly password?: string | undefined
  /** Answers in the place of the stand-in; undefined is silence. */
  readonly answer?: (command: readonly string[]) => string | undefined
}

export async function startStandIn({ port = 0, password, answer }: StandInOptions = {}): Promise<StandIn> {
  const stored = new Map<string, string>()
  const got: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const session = { database: '0', known: password === undefined }
    let rest: Buffer = Buffer.alloc(0)
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    socket.on('data', (piece: Buffer) => {
      rest = Buffer.concat([rest, piece])
      for (let read = readCommand(rest); read !== undefined; read = readCommand(rest)) {
        rest = rest.subarray(read.end)
        const { command } = read
        got.push(command[0] ?? '')
        const reply = answer === undefined ? obey(session, command) : answer(command)
        if (reply !== undefined) socket.write(reply)
      }
    })
  })
  function obey(session: { database: string; known: boolean }, [name = '', ...args]: string[]): string {
    const [first = '', second = ''] = args
    if (name === 'AUTH') session.known = args.at(-1) === password
    if (!session.known) return name === 'AUTH' ? '-WRONGPASS no\r\n' : '-NOAUTH Authentication required.\r\n'
    const place = `${session.database}/${first}`
    const bulk = (text: string | undefined) =>
      text === undefined ? '$-1\r\n' : `$${Buffer.byteLength(text)}\r\n${text}\r\n`
    switch (name) {
      case 'AUTH':
        return '+OK\r\n'
      case 'SELECT':
        if (Number(first) > 15) return '-ERR DB index is out of range\r\n'
        session.database = first
        return '+OK\r\n'
      case 'SET':
        stored.set(place, second)
        return '+OK\r\n'
      case 'GET':
        return bulk(stored.get(place))
      case 'MGET':
        return `*${args.length}\r\n${args.map((key) => bulk(stored.get(`${session.database}/${key}`))).join('')}`
      case 'INCR':
        stored.set(place, String(Number(stored.get(place) ?? 0) + 1))
        return `:${stored.get(place)}\r\n`
      default:
        return `-ERR unknown command '${name}'\r\n`
    }
  }
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const stop = async () => {
    for (const socket of sockets) socket.destroy()
    if (server.listening) {
      server.close()
      await once(server, 'close')
    }
  }
  onTestFinished(stop)
  return { url: withPassword((server.address() as AddressInfo).port, password), got, sockets, stop }
}

/** The first command of these bytes, a list of counted texts, or undefined where it has not come whole. */
function readCommand(bytes: Buffer): { command: string[]; end: number } | undefined {
  const command: string[] = []
  let end = 0
  const line = () => {
    const stop = bytes.indexOf('\r\n', end)
    const text = bytes.toString('latin1', end + 1, stop)
    end = stop + 2
    return stop < 0 ? undefined : Number(text)
  }
  const parts = line()
  if (parts === undefined) return undefined
  while (command.length < parts) {
    const size = line()
    if (size === undefined || bytes.length < end + size + 2) return undefined
    command.push(bytes.toString('utf8', end, end + size))
    end += size + 2
  }
  return { command, end }
}
