/** Measures of the archive: how much of the rate of sends it leaves, how fast it catches up, how it grows. */
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Load } from './drive.ts'
import type { Order } from './load.ts'
import type { Row } from './rows.ts'
import { benchAgents, seedMail } from './seed-mail.ts'
import { startParley, startWorker } from './server.ts'

export interface ArchiveOptions {
  readonly rounds: number
  readonly seconds: number
  /** The burst whose backlog is archived. */
  readonly burst: number
}

const program = fileURLToPath(new URL('../bin/parley.js', import.meta.url))
const run = promisify(execFile)

const [on, off] = [{ ARCHIVE_ENABLED: 'true' }, { ARCHIVE_ENABLED: 'false' }]

const words = 'the build is green and we deploy users routes schema plan for migration after review pull request'.split(
  ' ',
)

/** 500 characters that are not the same twice. */
function textOf(seed: number): string {
  let [text, state] = ['', seed + 1]
  while (text.length < 500) {
    state = (state * 48_271) % 2_147_483_647
    text += `${words[state % words.length]}${state % 7 === 0 ? state.toString(36) : ''} `
  }
  return text.slice(0, 500)
}

/** Mail as if it had been sent, ten messages a thread: canonical file, outbox, inbox, and the digest make four files each. */
function seedBurst(storage: string, count: number): void {
  const db = new DatabaseSync(join(storage, 'parley.sqlite3'))
  const value = (text: string) => Number(Object.values(db.prepare(text).get() ?? {})[0] ?? 0)
  const project = value("SELECT id FROM projects WHERE slug = 'bench'")
  const first = value(`SELECT MIN(id) FROM agents WHERE project_id = ${project}`)
  const [message, thread] = [value('SELECT MAX(id) FROM messages'), value('SELECT MAX(id) FROM threads') + 1]
  const at = Date.now()
  db.exec('PRAGMA synchronous = OFF; BEGIN')
  const threads = db.prepare(
    'INSERT INTO threads (id, uid, project_id, key, next_seq, created_at) VALUES (?, ?, ?, ?, 11, ?)',
  )
  const messages = db.prepare(
    'INSERT INTO messages (id, uid, thread_id, seq, sender_id, subject, body, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const deliveries = db.prepare(
    "INSERT INTO deliveries (message_id, recipient_id, kind, sent_at) VALUES (?, ?, 'to', ?)",
  )
  const changes = db.prepare(
    "INSERT INTO changes (at, actor, kind, project_id, agent_id, thread_id, message_id, wakes) VALUES (?, 'local', 'message.sent', ?, ?, ?, ?, '')",
  )
  for (let n = 0; n < count; n++) {
    const [id, of] = [message + 1 + n, thread + Math.floor(n / 10)]
    const sender = first + (n % benchAgents)
    if (n % 10 === 0) threads.run(of, `burst-${n}`, project, `T-${n / 10}`, at)
    messages.run(id, `burst-${n}`, of, 1 + (n % 10), sender, `Message ${n}`, textOf(n), at)
    deliveries.run(id, first + ((n + 1) % benchAgents), at)
    changes.run(at, project, sender, of, id)
  }
  db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}

const textAt = (path: string): string => {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}

/** Resolves when all changes are in the archive; with `shown`, once their files are in the folder too. */
async function archivedAll(storage: string, { shown }: { shown: boolean }): Promise<void> {
  const db = new DatabaseSync(join(storage, 'parley.sqlite3'), { readOnly: true })
  const last = db.prepare('SELECT MAX(id) AS id FROM changes')
  const git = join(storage, 'projects', 'bench', '.git')
  for (;;) {
    const { place } = JSON.parse(textAt(join(storage, 'projects', '.archive.json')) || '{}') as {
      place?: { id: number }
    }
    const head = textAt(join(git, 'refs', 'heads', 'main'))
    if ((place?.id ?? -1) >= Number(last.get()?.id ?? 0) && (!shown || textAt(join(git, 'parley', 'shown')) === head))
      break
    await sleep(20)
  }
  db.close()
}

/** All committed files with the names of their contents, as one hash. */
const treeOf = (storage: string): string =>
  execFileSync('git', ['-C', join(storage, 'projects', 'bench'), 'rev-parse', 'main^{tree}'], { encoding: 'utf8' })

/** Bytes of all objects of a repository. */
function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}

async function rate(storage: string, env: Record<string, string>, seconds: number): Promise<number> {
  const parley = await startParley(storage, env)
  const worker = startWorker<Order, Load>('load.ts')
  const load = async (seconds: number) => {
    const order: Order = { port: parley.port, call: 'mail', era: 'plain', connections: 64, seconds }
    const { microseconds, errors } = await worker.ask(order)
    if (errors > 0) throw new Error(`${errors} calls failed`)
    return microseconds
  }
  await load(2)
  const time = await load(seconds)
  await worker.stop()
  await parley.stop()
  return time
}

export async function archiveRows(
  folder: () => string,
  { rounds, seconds, burst }: ArchiveOptions,
  say: (text: string) => void,
): Promise<Row[]> {
  const made = folder()
  await (await startParley(made, off)).stop()
  seedMail(made, [1])
  const prepare = () => {
    const storage = folder()
    cpSync(made, storage, { recursive: true })
    return storage
  }
  say('sends with and without the archive')
  const times = { on: [] as number[], off: [] as number[] }
  for (let round = 0; round < rounds; round++)
    for (const which of round % 2 === 0 ? (['off', 'on'] as const) : (['on', 'off'] as const))
      times[which].push(await rate(prepare(), which === 'on' ? on : off, seconds))
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [with_, without] = [mean(times.on), mean(times.off)]

  say(`the backlog of ${burst} messages`)
  const storage = prepare()
  const before = await startParley(storage, on)
  await archivedAll(storage, { shown: false })
  await before.stop()
  seedBurst(storage, burst)
  const objects = join(storage, 'projects', 'bench', '.git', 'objects')
  const empty = sizeOf(objects)
  const parley = await startParley(storage, on)
  const began = performance.now()
  await archivedAll(storage, { shown: false })
  const committed = (performance.now() - began) / 1000
  await archivedAll(storage, { shown: true })
  const whole = (performance.now() - began) / 1000
  const growth = (sizeOf(objects) - empty) / burst
  await parley.stop()

  say('a rebuild')
  const live = treeOf(storage)
  const again = performance.now()
  await run(process.execPath, [program, 'archive', 'rebuild'], {
    env: { PATH: process.env.PATH ?? '', STORAGE_ROOT: storage },
  })
  const rebuilt = (performance.now() - again) / 1000
  const same = treeOf(storage) === live
  return [
    {
      what: '`send_message` with the archive, against without',
      measured: `${((100 * without) / with_).toFixed(0)} % (${with_.toFixed(0)} µs, ${without.toFixed(0)} µs)`,
      target: '≥ 90 %',
      reached: without / with_ >= 0.9,
    },
    {
      what: 'archiving a backlog, 4 files a message',
      measured: `${Math.round(burst / whole)} messages a second (${Math.round(burst / committed)} without the files in the folder)`,
      target: '≥ 500',
      reached: burst / whole >= 500,
    },
    {
      what: `backlog of ${burst.toLocaleString('en')} messages gone after`,
      measured: `${whole.toFixed(1)} s`,
      target: '≤ 30 s',
      reached: whole <= 30,
    },
    {
      what: 'growth of the repository, a message of 500 characters',
      measured: `${(growth / 1024).toFixed(2)} KB`,
      target: '≤ 3 KB',
      reached: growth <= 3 * 1024,
    },
    {
      what: `\`archive rebuild\` of ${burst.toLocaleString('en')} messages`,
      measured: `${same ? 'the same tree' : 'another tree'}, ${rebuilt.toFixed(1)} s`,
      target: 'the same tree',
      reached: same,
    },
  ]
}
