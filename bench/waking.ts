/** Measures of waking: what a hook waits for, from a send to the line of `parley wait` here and at another node, and idle waiters. */
import { spawn } from 'node:child_process'
import { Agent, request } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openClient, percentile } from './client.ts'
import type { Row } from './rows.ts'
import { seed } from './seed.ts'
import { cpu, memory, own, rested, startParley } from './server.ts'
import { wakerRows } from './waker.ts'

const launcher = fileURLToPath(new URL('../bin/parley.js', import.meta.url))
const messages = 100_000
const idleWaiters = 1000

export async function wakingRows(
  folder: () => string,
  { samples }: { samples: number },
  say: (text: string) => void,
): Promise<Row[]> {
  const storage = folder()
  await (await startParley(storage)).stop()
  seed(storage, 'deep', messages)
  const parley = await startParley(storage, { WAITS_TOTAL: '5000' })
  try {
    say('hooks')
    const hooks = await hookTimes(parley.port, samples)
    say('from a send to the line of parley wait')
    const lines = await lineTimes(storage, { sends: parley.port, waits: parley.port }, samples)
    const other = await startParley(storage)
    const elsewhere = await lineTimes(storage, { sends: parley.port, waits: other.port }, samples)
    await other.stop()
    say('starts of parley wait and hook')
    const starts = await wakerRows(storage, samples / 10)
    say(`${idleWaiters} waiters`)
    const idle = await idleCost(parley)
    return [
      line(`a hook with nothing to say, ${messages.toLocaleString('en')} messages in the store`, hooks.nothing, 95, 3),
      line(`a hook with a pointer, ${messages.toLocaleString('en')} messages in the store`, hooks.something, 95, 8),
      line('a hook with nothing to say, 1,000 unread of which the agent was told', hooks.told, 95, 3),
      lineRow('send → line of a waiting `parley wait`', lines, { p50: 5, p99: 25 }),
      lineRow('send → line of a waiting `parley wait` of another node', elsewhere, { p50: 10 }),
      ...starts,
      {
        what: `${idleWaiters.toLocaleString('en')} idle waiters`,
        measured: `${idle.more.toFixed(0)} MB more, ${idle.cpuPercent.toFixed(2)} % CPU (${idle.before.toFixed(2)} % without)`,
        target: '≤ 40 MB',
        reached: idle.more <= 40,
      },
    ]
  } finally {
    await parley.stop()
  }
}

const line = (what: string, times: readonly number[], p: number, most: number): Row => ({
  what,
  measured: `${percentile(times, 50).toFixed(2)} ms p50, ${percentile(times, p).toFixed(2)} ms p${p}`,
  target: `≤ ${most} ms p${p}`,
  reached: percentile(times, p) <= most,
})

function lineRow(what: string, times: readonly number[], { p50: most, p99 }: { p50: number; p99?: number }): Row {
  const [median, late] = [percentile(times, 50), percentile(times, 99)]
  return {
    what,
    measured: `${median.toFixed(1)} ms p50, ${late.toFixed(1)} ms p99, the send included`,
    target: `≤ ${most} ms p50${p99 === undefined ? '' : `, ≤ ${p99} ms p99`}`,
    reached: median <= most && (p99 === undefined || late <= p99),
  }
}

/** Hooks and waiters come by bare HTTP, on connections that are kept. */
function poster(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: idleWaiters + 10 })
  const post = (path: string, body: object): Promise<string> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' }
      const sent = request({ agent, port, host: '127.0.0.1', method: 'POST', path, headers }, (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (part: string) => {
          text += part
        })
        answer.on('end', () => resolve(text))
      })
      sent.on('error', reject).end(JSON.stringify(body))
    })
  return { post, close: () => agent.destroy() }
}

async function hookTimes(port: number, samples: number) {
  const { post, close } = poster(port)
  const hook = async (agent: string): Promise<{ ms: number; told: boolean }> => {
    const payload = { session_id: `window of ${agent}`, prompt: 'go on', cwd: '/', hook_event_name: 'UserPromptSubmit' }
    const began = performance.now()
    const text = await post(`/hooks/claude/UserPromptSubmit?agent=${agent}`, payload)
    return { ms: performance.now() - began, told: text !== '{}' }
  }
  const ann = await openClient(port, 'ann')
  const write = (name: string) => ann.call('send_to_agent', { name, msg: 'hello' })
  await write('bob')
  for (let n = 0; n < 1000; n++) await write('told')
  // A pointer names fifty.
  while ((await hook('told')).told) await sleep(1)
  for (let n = 0; n < 500; n++) await hook('bob')
  const [nothing, told, something]: [number[], number[], number[]] = [[], [], []]
  const bob = await openClient(port, 'bob')
  for (let n = 0; n < 5 * samples; n++) {
    nothing.push((await hook('bob')).ms)
    told.push((await hook('told')).ms)
    if (n % 5 !== 0) continue
    await write('bob')
    const { ms, told: pointed } = await hook('bob')
    // One that came too late is told again, and counts as late.
    something.push(pointed ? ms : 25)
    await bob.call('check_mail', {})
  }
  for (const client of [ann, bob]) client.close()
  close()
  return { nothing, told, something }
}

async function lineTimes(
  storage: string,
  { sends: port, waits }: { readonly sends: number; readonly waits: number },
  samples: number,
): Promise<number[]> {
  const args = [launcher, 'wait', '--agent', 'cleo', '--follow', '--server', `http://127.0.0.1:${waits}`]
  const env = { PATH: process.env.PATH ?? '', HOME: storage, STORAGE_ROOT: storage }
  const cleo = await openClient(port, 'cleo')
  await cleo.call('check_mail', {})
  const ann = await openClient(port, 'ann')
  const child = own(spawn(process.execPath, args, { env, cwd: storage, stdio: ['ignore', 'pipe', 'inherit'] }))
  let heard = (_at: number) => {}
  createInterface({ input: child.stdout }).on('line', () => heard(performance.now()))
  const times: number[] = []
  await sleep(1000)
  for (let n = 0; n < 20 + samples; n++) {
    const line = new Promise<number>((resolve) => {
      heard = resolve
    })
    const began = performance.now()
    const sent = ann.call('send_to_agent', { name: 'cleo', msg: 'hello' })
    const ms = (await line) - began
    if (n >= 20) times.push(ms)
    await sent
    await cleo.call('check_mail', {})
    // Until it waits again.
    await sleep(15)
  }
  child.kill('SIGTERM')
  for (const client of [ann, cleo]) client.close()
  return times
}

async function idleCost(parley: { readonly port: number; readonly pid: number }) {
  const { post, close } = poster(parley.port)
  // They are there, and have no mail: what a waiter was told of would be free again while it waits.
  for (let n = 0; n < idleWaiters; n++) {
    const client = await openClient(parley.port, `idle${n}`)
    await client.call('check_mail', {})
    client.close()
  }
  await rested(parley.pid)
  const percentOf = async (ms = 8000): Promise<number> => {
    const [from, began] = [cpu(parley.pid), performance.now()]
    await sleep(ms)
    return ((cpu(parley.pid) - from) / (performance.now() - began)) * 100
  }
  // Earlier messages are indexed and counted behind their sends.
  for (let tries = 0; tries < 30 && (await percentOf(1000)) > 1; tries++);
  const before = await percentOf()
  const weight = memory(parley.pid)
  const waiting = Array.from({ length: idleWaiters }, (_, n) =>
    post(`/hooks/wait?agent=idle${n}&session=s${n}&client=claude&seconds=45`, {}).catch(() => ''),
  )
  await sleep(1500)
  await rested(parley.pid)
  const cpuPercent = await percentOf()
  const more = memory(parley.pid) - weight
  close()
  await Promise.all(waiting)
  return { more, before, cpuPercent }
}
