/** The price of a restart for clients: of one node whose socket is held for it, and of one of two nodes behind nginx. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '../test/support/postgres.ts'
import { phrase } from './phrase.ts'
import { freePort, hasNginx, startNginx } from './proxy.ts'
import type { Row } from './rows.ts'
import { makeDatabase } from './seed-postgres.ts'
import { own, type Running, start } from './server.ts'

const token = 'the-token-of-the-operator'
const program = fileURLToPath(new URL('../bin/parley.js', import.meta.url))
const plain = phrase('plain')
/** Between the answer to a client and its next message: the machine has to carry the load with room for a process that starts. */
const restMs = 250

const environment = (storage: string, env: Record<string, string>) => ({
  PATH: process.env.PATH ?? '',
  STORAGE_ROOT: storage,
  LOG_LEVEL: 'warn',
  ARCHIVE_ENABLED: 'false',
  HTTP_BEARER_TOKEN: token,
  ...env,
})

export async function restartRows(folder: () => string, restarts: number, say: (text: string) => void): Promise<Row[]> {
  say('restarts on a socket that is held')
  const held = await heldRow(folder(), restarts)
  if (!hasNginx()) {
    say('skipped: nginx is not on this machine (apt-get install nginx)')
    return [held]
  }
  say('restarts of one of two nodes')
  return [held, await pairRow(folder, restarts)]
}

/** A shell holds the socket, as systemd does, and starts one server after the other on it. */
async function heldRow(storage: string, restarts: number): Promise<Row> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as { port: number }
  const { fd } = (listener as unknown as { _handle: { fd: number } })._handle
  const endless = 'export LISTEN_PID=$$; while "$@" & echo "pid $!"; wait $!; do :; done'
  const shell = own(
    spawn('bash', ['-c', endless, 'bash', process.execPath, program, 'serve'], {
      env: environment(storage, { LISTEN_FDS: '1' }),
      stdio: ['ignore', 'pipe', 'inherit', fd],
      cwd: storage,
    }),
  )
  const server = readServers(shell)
  listener.close()
  await server.ready(1)
  const crowd = openCrowd(port, 16)
  try {
    const usual = await crowd.undisturbed()
    const seen: number[] = []
    for (let n = 0; n < restarts; n++) {
      process.kill(server.pid(), 'SIGTERM')
      await server.ready(n + 2)
      await crowd.goOn()
      seen.push(crowd.longest())
      await sleep(1000)
      crowd.longest()
    }
    return row('a node whose socket systemd holds', { clients: 16, seen, usual, most: 1000 })
  } finally {
    await crowd.end()
    shell.kill('SIGKILL')
    process.kill(server.pid(), 'SIGTERM')
  }
}

/** The servers that a shell starts one after the other. */
function readServers(shell: ChildProcess) {
  let said = ''
  shell.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  return {
    pid: () =>
      Number(
        said
          .match(/pid \d+/g)
          ?.at(-1)
          ?.slice(4),
      ),
    async ready(count: number) {
      while ((said.match(/is ready at/g)?.length ?? 0) < count) {
        if (shell.exitCode !== null) throw new Error(`the shell ended: ${said}`)
        await sleep(5)
      }
    },
  }
}

async function pairRow(folder: () => string, restarts: number): Promise<Row> {
  const postgres = await startPostgres({ durable: true })
  const DATABASE_URL = await makeDatabase(postgres.url, 'restart')
  const storage = folder()
  const ports = [await freePort(), await freePort()]
  const startNode = (port: number): Promise<Running> => {
    const shared = { DATABASE_URL, SECRET_KEY: 'one key for both of the nodes', DRAIN_SECONDS: '2' }
    const env = environment(storage, { ...shared, HTTP_PORT: String(port) })
    const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit']
    return start(
      spawn(process.execPath, [program, 'serve'], { env, stdio, cwd: storage }),
      /ready at http:\/\/[^\s:]+:(\d+)/,
    )
  }
  const nodes: Running[] = []
  for (const port of ports) nodes.push(await startNode(port))
  const nginx = await startNginx(folder(), ports)
  const crowd = openCrowd(nginx.port, 64)
  try {
    const usual = await crowd.undisturbed()
    const seen: number[] = []
    for (let n = 0; n < restarts; n++) {
      const at = n % ports.length
      await nodes[at]?.stop()
      nodes[at] = await startNode(ports[at] ?? 0)
      // nginx turns to it within a second.
      await sleep(1500)
      await crowd.goOn()
      seen.push(crowd.longest())
      await sleep(1000)
      crowd.longest()
    }
    return row('one of two nodes behind nginx, on PostgreSQL', { clients: 64, seen, usual, most: 300 })
  } finally {
    await crowd.end()
    await nginx.stop()
    await Promise.all(nodes.map((node) => node.stop()))
    await postgres.stop()
  }
}

/** Clients in a ring: each sends to the next one every quarter of a second, and always waits for mail. */
function openCrowd(port: number, clients: number) {
  const agent = new Agent({ keepAlive: true })
  let [going, longestMs] = [true, 0]
  const sent = new Array<number>(clients).fill(0)
  /** Asks again where the connection was lost: under one id a message is stored once. */
  async function call(client: number, tool: string, args: Record<string, unknown>): Promise<string> {
    for (;;) {
      const answer = await post(agent, port, `/agents/client-${client}/mcp`, plain.body(1, tool, args))
      if (answer !== undefined || !going) return answer ?? ''
      await sleep(10)
    }
  }
  const senders = sent.map(async (_, client) => {
    for (let count = 0; going; count++) {
      const began = performance.now()
      const args = { name: `client-${(client + 1) % clients}`, msg: `sent ${began};`, msg_id: `${client}-${count}` }
      const answer = await call(client, 'send_to_agent', args)
      if (going && !answer.includes(args.msg_id)) throw new Error(answer)
      longestMs = Math.max(longestMs, performance.now() - began)
      sent[client] = count + 1
      await sleep(restMs)
    }
  })
  const takers = sent.map(async (_, client) => {
    while (going) {
      const answer = await call(client, 'check_mail', { wait_seconds: 20 })
      const began = /sent ([\d.]+);/.exec(answer)?.[1]
      if (began !== undefined) longestMs = Math.max(longestMs, performance.now() - Number(began))
    }
  })
  for (const work of [...senders, ...takers]) work.catch(() => {})
  return {
    /** The longest of three seconds, once servers, clients and the database are warm. */
    async undisturbed() {
      await sleep(5000)
      this.longest()
      await sleep(3000)
      return this.longest()
    },
    /** The longest from a send to its answer, or to the message at the client that waits for it, since this was last asked. */
    longest() {
      const longest = longestMs
      longestMs = 0
      return longest
    },
    /** Until each client has sent twice more: what it waited for before is seen then. */
    async goOn() {
      const before = [...sent]
      while (sent.some((count, client) => count < (before[client] ?? 0) + 2)) {
        await Promise.race([...senders, sleep(20)])
      }
    },
    async end() {
      going = false
      agent.destroy()
      await Promise.allSettled(senders)
    },
  }
}

/** Undefined if the connection was lost, or nobody answered behind the proxy. */
function post(agent: Agent, port: number, path: string, body: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    const asked = request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent }, async (answer) => {
      let text = ''
      try {
        for await (const part of answer.setEncoding('utf8')) text += part
      } catch {
        return resolve(undefined)
      }
      resolve([502, 503, 504].includes(answer.statusCode ?? 0) ? undefined : text)
    })
    asked.once('error', () => resolve(undefined)).end(body)
  })
}

function row(
  what: string,
  { clients, seen, usual, most }: { clients: number; seen: readonly number[]; usual: number; most: number },
): Row {
  const worst = Math.max(...seen)
  const each = seen.map((ms) => ms.toFixed(0)).join(', ')
  return {
    what: `restart of ${what}: the longest that one of ${clients} clients waits`,
    measured: `${worst.toFixed(0)} ms (of ${seen.length} restarts: ${each}; undisturbed ${usual.toFixed(0)})`,
    target: `≤ ${most} ms`,
    reached: worst <= most,
  }
}
