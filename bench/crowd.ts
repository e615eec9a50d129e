/** The cost of a waiting crowd: 1,000 calls each of ten agents, how long they hold up others, and their memory. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { type BenchClient, openClient } from './client.ts'
import type { Row } from './rows.ts'
import { memory, type Running, startParley } from './server.ts'

const [agents, waits, messages] = [10, 1000, 20]

/** Ports of a thread's work: one that it looks at, or none, where it serves at one of its own. */
type Job = { readonly look: number } | { readonly serve: true }

const thread = (job: Job): Worker => new Worker(new URL(import.meta.url), { workerData: job })

interface Held {
  readonly parley: number
  /** Of a server that has nothing to do: what the machine takes. */
  readonly idle: number
}

/** The longest that `/health` took while the work was done, each seen by a thread that does nothing else. */
async function heldUp({ port }: Running, work: () => Promise<unknown>): Promise<Held> {
  const idle = thread({ serve: true })
  const [idlePort] = (await once(idle, 'message')) as [number]
  const lookers = [port, idlePort].map((look) => thread({ look }))
  await Promise.all(lookers.map((looker) => once(looker, 'message')))
  await work()
  const longest = lookers.map(async (looker) => {
    looker.postMessage('stop')
    const [ms] = (await once(looker, 'message')) as [number]
    await looker.terminate()
    return ms
  })
  const [parley = 0, beside = 0] = await Promise.all(longest)
  await idle.terminate()
  return { parley, idle: beside }
}

function serve(): void {
  const server = createServer((_request, response) => response.end('{}')).listen(0, '127.0.0.1', () =>
    parentPort?.postMessage((server.address() as AddressInfo).port),
  )
}

async function look(port: number): Promise<void> {
  let [longest, done] = [0, false]
  parentPort?.once('message', () => {
    done = true
  })
  const ask = async () => {
    const began = performance.now()
    await (await fetch(`http://127.0.0.1:${port}/health`)).text()
    return performance.now() - began
  }
  // The first ones open a connection and load the client.
  for (let n = 0; n < 20; n++) await ask()
  parentPort?.postMessage('ready')
  for (; !done; await sleep(5)) longest = Math.max(longest, await ask())
  parentPort?.postMessage(longest)
}

if (!isMainThread) {
  const job = workerData as Job
  if ('look' in job) await look(job.look)
  else serve()
}

const told = ({ parley, idle }: Held) => `${parley.toFixed(0)} ms (an idle server ${idle.toFixed(0)})`

const named = (agent: number) => `crowd-${agent}`

/** One more call on a connection of its own. */
async function openWait(port: number, agent: number, clients: BenchClient[]): Promise<void> {
  const client = await openClient(port, named(agent))
  clients.push(client)
  void client.call('check_mail', { wait_seconds: 600 })
}

export async function crowdRows(storage: string, say: (text: string) => void, checkout?: string): Promise<Row[]> {
  const parley = await startParley(storage, { MAX_WAIT_SECONDS: '600' }, checkout)
  const clients: BenchClient[] = []
  try {
    say(`${agents * waits} waits`)
    const sender = await openClient(parley.port, 'crowd-sender')
    clients.push(sender)
    const send = (agent: number) => sender.call('send_to_agent', { name: named(agent), msg: 'wake up' })
    for (let agent = 0; agent < agents; agent++) await send(agent)
    const coming = await heldUp(parley, async () => {
      for (let n = 0; n < waits; n++)
        await Promise.all(Array.from({ length: agents }, (_, agent) => openWait(parley.port, agent, clients)))
    })
    await sleep(2000)
    const weight = memory(parley.pid)
    const woken = await heldUp(parley, async () => {
      for (let n = 0; n < messages; n++) await Promise.all(Array.from({ length: agents }, (_, agent) => send(agent)))
    })
    return [
      {
        what: `${(agents * waits).toLocaleString('en')} waits of ${agents} agents: how long they hold up \`/health\``,
        measured: `${told(coming)} as they come, ${told(woken)} as mail arrives; ${weight.toFixed(0)} MB`,
        target: '≤ 100 ms',
        reached: Math.max(coming.parley, woken.parley) <= 100,
      },
    ]
  } finally {
    for (const client of clients) client.close()
    await parley.stop()
  }
}
