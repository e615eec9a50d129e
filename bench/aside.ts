/** Measures of long work beside the requests: how long it takes, and how long a send waits meanwhile. */
import { execFile } from 'node:child_process'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { type BenchClient, openClient, percentile } from './client.ts'
import type { Row } from './rows.ts'
import { agentOf, benchProject, leaveUnsearched, seedMail } from './seed-mail.ts'
import { rested, startParley } from './server.ts'
import { text } from './text.ts'

const program = fileURLToPath(new URL('../bin/parley.js', import.meta.url))
const run = promisify(execFile)

/** Sends for so long before any is timed, until the server is warm. */
const warmMs = 3000
/** As long are sends timed before, at rest: what the machine itself holds up. */
const restMs = 3000

const mail = (more: Record<string, unknown> = {}) => ({
  project_key: benchProject,
  sender_name: agentOf(1),
  to: [agentOf(2)],
  subject: 'The build is green again',
  body_md: text,
  ...more,
})

/** Sends one message after the other while `work` goes on; the time of each in milliseconds. */
async function sendsWhile(client: BenchClient, work: Promise<unknown>): Promise<number[]> {
  let going = true
  const done = work.finally(() => {
    going = false
  })
  const times: number[] = []
  while (going) {
    const began = performance.now()
    const answer = await client.call('send_message', mail())
    times.push(performance.now() - began)
    if (!answer.includes('"count":1')) throw new Error(`a send failed: ${answer.slice(0, 300)}`)
    await sleep(1)
  }
  await done
  return times
}

interface Held {
  readonly seconds: number
  readonly worst: number
  readonly rest: number
  readonly sends: number
}

/** The code that `work` loads is part of the measure: it is begun once. */
async function held(client: BenchClient, rest: number, work: () => Promise<unknown>): Promise<Held> {
  const began = performance.now()
  const times = await sendsWhile(client, work())
  const seconds = (performance.now() - began) / 1000
  return { seconds, worst: Math.max(...times), rest, sends: times.length }
}

const heldRow = (what: string, { worst, rest, sends }: Held): Row => ({
  what,
  measured: `${worst.toFixed(1)} ms, the worst of ${sends.toLocaleString('en')} sends (at rest ${rest.toFixed(1)} ms)`,
  target: '≤ 25 ms',
  reached: worst <= 25,
})

/** `storage` is that of makeMailStore (mail.ts): that it has been measured before does not matter here. */
export async function asideRows(
  storage: string,
  { folder, messages }: { folder: () => string; messages: number },
  say: (text: string) => void,
): Promise<Row[]> {
  const project_key = folder()
  const parley = await startParley(storage, { ATTACHMENT_ROOTS: project_key })
  try {
    await rested(parley.pid)
    say('backup')
    const client = await openClient(parley.port, '', '/mcp')
    await sendsWhile(client, sleep(warmMs))
    const rest = percentile(await sendsWhile(client, sleep(restMs)), 99.9)
    const file = join(storage, 'backup.tar.gz')
    const env = { PATH: process.env.PATH ?? '', STORAGE_ROOT: storage }
    const backup = await held(client, rest, () => run(process.execPath, [program, 'backup', file], { env }))

    say('an image of 12 megapixels')
    const photo = await sharp({
      create: {
        width: 4000,
        height: 3000,
        channels: 3,
        background: 'grey',
        noise: { type: 'gaussian', mean: 128, sigma: 20 },
      },
    })
      .jpeg({ quality: 80 })
      .toBuffer()
    writeFileSync(join(project_key, 'photo.jpg'), photo)
    const sender = await openClient(parley.port, '', '/mcp')
    for (const name of ['GreenCastle', 'BlueLake']) await sender.call('register_agent', { project_key, name })
    const image = await held(client, rest, async () => {
      const answer = await sender.call(
        'send_message',
        mail({ project_key, sender_name: 'GreenCastle', to: ['BlueLake'], attachment_paths: ['photo.jpg'] }),
      )
      if (!answer.includes('image/webp')) throw new Error(`the image was not sent: ${answer.slice(0, 300)}`)
    })
    sender.close()
    client.close()
    const moving = await retention(folder(), rest, say)
    return [
      {
        what: `\`parley backup\` of ${messages.toLocaleString('en')} messages`,
        measured: `${backup.seconds.toFixed(1)} s, ${(statSync(file).size / 1e6).toFixed(0)} MB`,
        target: '≤ 60 s',
        reached: backup.seconds <= 60,
      },
      heldRow('a send meanwhile', backup),
      heldRow(`a send while an image of 12 megapixels becomes WebP (${image.seconds.toFixed(1)} s)`, image),
      {
        what: `\`parley retention apply\` of ${oldMessages.toLocaleString('en')} messages`,
        measured: `${moving.seconds.toFixed(1)} s`,
        target: '',
        reached: true,
      },
      heldRow('a send meanwhile', moving),
    ]
  } finally {
    await parley.stop()
  }
}

const oldMessages = 100_000

/** On a store of its own, whose mail is all old and read. */
async function retention(storage: string, rest: number, say: (text: string) => void): Promise<Held> {
  say('retention apply')
  await (await startParley(storage)).stop()
  seedMail(storage, [oldMessages])
  leaveUnsearched(storage)
  const db = new DatabaseSync(join(storage, 'parley.sqlite3'))
  db.exec('UPDATE deliveries SET read_at = sent_at; UPDATE agents SET unread = 0')
  db.close()
  const parley = await startParley(storage)
  try {
    const client = await openClient(parley.port, '', '/mcp')
    await sendsWhile(client, sleep(warmMs))
    await rested(parley.pid)
    const env = { PATH: process.env.PATH ?? '', STORAGE_ROOT: storage }
    const moved = await held(client, rest, async () => {
      const { stdout } = await run(process.execPath, [program, 'retention', 'apply', '--force', '--json'], { env })
      const { messages } = JSON.parse(stdout) as { messages: number }
      if (messages !== oldMessages) throw new Error(`${messages} messages were moved out`)
    })
    client.close()
    return moved
  } finally {
    await parley.stop()
  }
}
