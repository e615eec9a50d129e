/** From a change in one process to the pages that are open at another: to one of them, and to hundreds. */
import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchClient, openClient, percentile } from './client.ts'
import { openPage } from './open-pages.ts'
import type { Row } from './rows.ts'
import { benchProject } from './seed-mail.ts'
import { type Running, rested, startParley } from './server.ts'
import { text } from './text.ts'

export async function sendTo(client: BenchClient, project: string, subject: string): Promise<void> {
  const answer = await client.call('send_message', {
    project_key: project,
    sender_name: 'Agent1',
    to: ['Agent2'],
    subject,
    body_md: text,
  })
  if (!answer.includes('"count":1')) throw new Error(`a send failed: ${answer.slice(0, 300)}`)
}

const crowd = 500

/** Another process on the same store sends; the pages are seen at this one. */
export async function seenRows(here: Running, storage: string, samples: number): Promise<Row[]> {
  const there = await startParley(storage)
  const sender = await openClient(there.port, '', '/mcp')
  try {
    return [await seenByOne(here, sender, samples), await seenByAll(here, sender)]
  } finally {
    sender.close()
    await there.stop()
  }
}

/** Changes come a tenth of a second to a second after the last one was seen. */
async function seenByOne(here: Running, sender: BenchClient, samples: number): Promise<Row> {
  const agent = new Agent({ keepAlive: true })
  let waiting: { readonly word: string; readonly done: () => void } | undefined
  const page = await openPage(here.port, agent, (shown) => {
    if (waiting !== undefined && shown.includes(waiting.word)) waiting.done()
  })
  const times: number[] = []
  for (let n = 0; n < samples; n++) {
    const word = `Seen-${n}.`
    await sleep(100 + 90 * (n % 10))
    const began = performance.now()
    const there = new Promise<void>((resolve) => {
      waiting = { word, done: resolve }
    })
    await sendTo(sender, benchProject, word)
    await there
    times.push(performance.now() - began)
  }
  page.close()
  agent.destroy()
  const [p50, p99] = [percentile(times, 50), percentile(times, 99)]
  return {
    what: 'change in another process → seen on an open page',
    measured: `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
    target: 'p50 ≤ 300 ms, p99 ≤ 1 s',
    reached: p50 <= 300 && p99 <= 1000,
  }
}

/** One change, and then nothing for a while: every page asks for itself. */
async function seenByAll(here: Running, sender: BenchClient): Promise<Row> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const word = 'Seen by all.'
  let left = crowd
  let all = () => {}
  const everybody = new Promise<void>((resolve) => {
    all = resolve
  })
  const shown = (text: string) => {
    if (text.includes(word) && --left === 0) all()
  }
  const pages = await Promise.all(Array.from({ length: crowd }, () => openPage(here.port, agent, shown)))
  await rested(here.pid)
  const began = performance.now()
  await sendTo(sender, benchProject, word)
  await everybody
  const ms = performance.now() - began
  for (const page of pages) page.close()
  agent.destroy()
  return {
    what: `change in another process → seen on each of ${crowd} open pages`,
    measured: `${(ms / 1000).toFixed(1)} s`,
    target: '≤ 10 s',
    reached: ms <= 10_000,
  }
}
