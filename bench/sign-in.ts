/** The cost of credentials and limits: the same `send_to_agent` by callers of each kind, in turns on one machine. */
import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { SignJWT } from 'jose'
import { startRedis } from '../test/support/redis-server.ts'
import { openClient } from './client.ts'
import type { Load } from './drive.ts'
import type { Order } from './load.ts'
import type { Row } from './rows.ts'
import { type Running, startParley, startWorker } from './server.ts'
import { type Contender, coldCalls, cpus, ratios, served, sharedCalls, takeTurns, walls, warmUp } from './turns.ts'

const connections = 64
const secret = 'a secret of more than thirty-two bytes'
const program = fileURLToPath(new URL('../bin/parley.js', import.meta.url))

/** Never reached: what is measured is the counting. */
const wide = { HTTP_RATE_LIMIT_ENABLED: 'true', HTTP_RATE_LIMIT_TOOLS_PER_MINUTE: '1000000' }
const tokens = { HTTP_JWT_ENABLED: 'true', HTTP_JWT_SECRET: secret }

interface Calling {
  readonly warm?: number
  readonly headers?: Record<string, string>
}

/** In a server that is warm but for reading it. */
const withToken = (token: string): Calling => ({ warm: sharedCalls, headers: { Authorization: `Bearer ${token}` } })

export async function signInRows(folder: () => string, rounds: number, say: (text: string) => void): Promise<Row[]> {
  const redis = await realRedis()
  const storage = folder()
  const parley = await startParley(storage, tokens)
  // Limits are measured against a server that serves as much as theirs: one that serves more takes some 0.9 of the time.
  const bare = await startParley(folder(), tokens)
  const limited = await startParley(folder(), { ...tokens, ...wide })
  const shared =
    redis && (await startParley(folder(), { ...tokens, ...wide, HTTP_RATE_LIMIT_BACKEND: 'redis', ...redis.env }))
  const load = startWorker<Order, Load>('load.ts')
  const call = (server: Running, agent: string, { warm = coldCalls, headers = {} }: Calling = {}): Contender =>
    served(
      server,
      (seconds) => {
        const { port } = server
        return load.ask({ port, call: 'sendAsOne', era: 'plain', connections, seconds, agent, headers })
      },
      { what: `send_to_agent of ${agent}`, warm },
    )
  try {
    const token = await new SignJWT({ agent: 'signed', role: 'writer' })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime('2h')
      .sign(new TextEncoder().encode(secret))
    const contenders: Record<string, Contender> = {
      local: call(parley, 'local'),
      again: call(parley, 'local', { warm: 0 }),
      key: call(parley, 'keyed', withToken(await keyOf(parley, storage, 'keyed'))),
      token: call(parley, 'signed', withToken(token)),
      bare: call(bare, 'local'),
      memory: call(limited, 'local'),
      ...(shared && { redis: call(shared, 'local') }),
    }
    say('credentials and limits')
    await warmUp(contenders)
    const seen = await takeTurns(contenders, rounds)
    const line = (name: string, what: string, target: number, against = 'local'): Row => {
      const [wall, used] = [walls, cpus].map((of) => ratios(of(seen[name] ?? []), of(seen[against] ?? [])))
      const added = 100 * ((used?.median ?? Number.NaN) - 1)
      return {
        what,
        measured: `CPU +${added.toFixed(0)} %, time ${(wall?.median ?? Number.NaN).toFixed(2)} ×`,
        target: `≤ ${target} %`,
        reached: added <= target,
        noise: `CPU ${ratios(cpus(seen.again ?? []), cpus(seen.local ?? [])).median.toFixed(2)} ×`,
      }
    }
    return [
      line('key', '`send_to_agent` with a key, against none', 10),
      line('token', '`send_to_agent` with a signed token, against none', 10),
      line('memory', '`send_to_agent` with a limit in memory, against none', 3, 'bare'),
      ...(shared ? [line('redis', '`send_to_agent` with a limit in Redis, against none', 15, 'bare')] : []),
    ]
  } finally {
    await load.stop()
    await Promise.all([parley, bare, limited, shared].map((server) => server?.stop()))
    await redis?.stop()
  }
}

/** One that runs anyway, or one of our own; the line is left out where there is none. */
async function realRedis() {
  const given = process.env.REDIS_URL
  if (given) return { env: { HTTP_RATE_LIMIT_REDIS_URL: given }, stop: async () => {} }
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined
  const { url, stop } = await startRedis()
  return { env: { HTTP_RATE_LIMIT_REDIS_URL: url }, stop }
}

/** An agent is made by its first call. */
async function keyOf({ port }: Running, storage: string, agent: string): Promise<string> {
  const client = await openClient(port, '', `/agents/${agent}/mcp`)
  await client.call('check_mail', {})
  client.close()
  const env = { PATH: process.env.PATH ?? '', STORAGE_ROOT: storage }
  const printed = execFileSync(process.execPath, [program, 'keys', 'create', agent, '--json'], { env, cwd: storage })
  return (JSON.parse(printed.toString()) as { key: string }).key
}
