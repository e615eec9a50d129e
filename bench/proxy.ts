/** The cost of nginx in front, with the file of deploy/nginx: the same calls by it and directly, in turns. Skipped where nginx is not installed. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from './client.ts'
import { openDriver } from './drive.ts'
import { phrase } from './phrase.ts'
import type { Row } from './rows.ts'
import { own, startParley } from './server.ts'
import { text } from './text.ts'

export const hasNginx = (): boolean => spawnSync('nginx', ['-v']).status === 0

const token = 'the-token-of-the-operator'
const authorization = { Authorization: `Bearer ${token}` }
const connections = 16
const plain = phrase('plain')

export async function proxyRows(
  folder: () => string,
  { rounds, samples }: { rounds: number; samples: number },
  say: (text: string) => void,
): Promise<Row[]> {
  if (!hasNginx()) {
    say('skipped: nginx is not on this machine (apt-get install nginx)')
    return []
  }
  const parley = await startParley(folder(), { HTTP_BEARER_TOKEN: token })
  const nginx = await startNginx(folder(), [parley.port])
  try {
    return [await rateRow(parley.port, nginx.port, rounds), await waitRow(parley.port, nginx.port, samples)]
  } finally {
    await nginx.stop()
    await parley.stop()
  }
}

/** As shipped for the compose file, which has no TLS, with one node or two. */
export async function startNginx(
  folder: string,
  nodes: readonly number[],
): Promise<{ port: number; stop(): Promise<void> }> {
  const port = await freePort()
  const shipped = readFileSync(new URL('../deploy/nginx/compose.conf', import.meta.url), 'utf8')
  const site = shipped
    // Debian's nginx is older than the image's, and knows no names that change.
    .replace(/ *resolver .*\n/, '')
    .replace(/( *server )node-a:8765 resolve(.*\n) *server node-b.*\n/, (_line, server, rest) =>
      nodes.map((node) => `${server}127.0.0.1:${node}${rest}`).join(''),
    )
    .replace('listen 80;', `listen 127.0.0.1:${port};`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (part) => `${part}_temp_path ${folder}/${part};`,
  )
  // nginx ends a connection after a thousand requests, which the load does not expect.
  const main = `daemon off; pid ${folder}/nginx.pid; worker_processes 1; events {}
http { access_log off; keepalive_requests 100000000; ${temporary.join(' ')} ${site} }`
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, main)
  const child = own(spawn('nginx', ['-c', file, '-p', folder, '-e', join(folder, 'error.log')], { stdio: 'ignore' }))
  for (let tries = 0; ; tries++) {
    if (child.exitCode !== null || tries > 200)
      throw new Error(`nginx does not start: ${readFileSync(join(folder, 'error.log'), 'utf8')}`)
    const ready = await fetch(`http://127.0.0.1:${port}/health/readiness`).catch(() => undefined)
    if (ready?.status === 200)
      return {
        port,
        async stop() {
          child.kill('SIGTERM')
          if (child.exitCode === null) await once(child, 'exit')
        },
      }
    await sleep(25)
  }
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

async function rateRow(direct: number, front: number, rounds: number): Promise<Row> {
  const job = {
    path: (connection: number) => `/agents/proxy-sender-${connection}/mcp`,
    headers: () => ({ ...plain.headers('send_to_agent'), ...authorization }),
    body: (connection: number, count: number) =>
      plain.body(count, 'send_to_agent', { name: `proxy-reader-${connection}`, msg: text }),
    seconds: 1,
  }
  const drivers = {
    direct: await openDriver(direct, connections),
    front: await openDriver(front, connections),
    again: await openDriver(direct, connections),
  }
  const order = ['direct', 'front', 'again'] as const
  const seen: Record<keyof typeof drivers, number[]> = { direct: [], front: [], again: [] }
  for (let round = -2; round < rounds; round++)
    for (let turn = 0; turn < order.length; turn++) {
      const name = order[(round + 2 + turn) % order.length] ?? 'direct'
      const { microseconds, errors } = await drivers[name].run(job)
      if (errors > 0) throw new Error(`${errors} calls failed (${name})`)
      if (round >= 0) seen[name].push(microseconds)
    }
  for (const driver of Object.values(drivers)) driver.close()
  const share = (name: 'front' | 'again') =>
    percentile(
      seen[name].map((value, round) => (seen.direct[round] ?? 0) / value),
      50,
    )
  return {
    what: '`send_to_agent` behind nginx, against directly',
    measured: `${(100 * share('front')).toFixed(0)} % of the rate`,
    target: '≥ 85 %',
    reached: share('front') >= 0.85,
    noise: `${share('again').toFixed(2)} ×`,
  }
}

async function waitRow(direct: number, front: number, samples: number): Promise<Row> {
  const call = (port: number, agent: string, tool: string, args: Record<string, unknown>) =>
    fetch(`http://127.0.0.1:${port}/agents/${agent}/mcp`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...plain.headers(tool), ...authorization },
      body: plain.body(1, tool, args),
    }).then((answer) => answer.text())
  const seen: Record<'direct' | 'front', number[]> = { direct: [], front: [] }
  for (let n = -5; n < samples; n++)
    for (const [name, port] of [
      ['direct', direct],
      ['front', front],
    ] as const) {
      const waiting = call(port, 'proxy-waiter', 'check_mail', { wait_seconds: 20 })
      await sleep(15)
      const began = performance.now()
      await call(direct, 'proxy-caller', 'send_to_agent', { name: 'proxy-waiter', msg: text })
      if (!(await waiting).includes('content')) throw new Error('a wait ended without its message')
      if (n >= 0) seen[name].push(performance.now() - began)
    }
  const [without, by] = [percentile(seen.direct, 50), percentile(seen.front, 50)]
  return {
    what: 'send → waiting `check_mail` behind nginx, against directly',
    measured: `+${(by - without).toFixed(2)} ms p50 (${without.toFixed(2)} ms directly)`,
    target: '≤ +1 ms',
    reached: by - without <= 1,
  }
}
