/** Units of work in a thread: they hold up nobody who does not write, fail alone, and take turns with those of this thread. */
import { existsSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import sql from 'sql-template-tag'
import { expect, onTestFinished, test } from 'vitest'
import { AskedThread } from './asked-thread.ts'
import { openSqlite } from './sqlite.ts'

/** A module as the thread loads it: notes a name, counts for a while, then fails or answers. */
const roomsModule = `
  const query = (text, ...values) => ({ strings: text.split('?'), values, sql: text })
  export async function work(tx, { name, count = 1, fails = false }) {
    await tx.change(query('INSERT INTO rooms (name) VALUES (?)', name))
    const [row] = await tx.all(query(
      'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT COUNT(*) AS count FROM n', count))
    if (fails) throw new Error('there is no room')
    return { name, ...row }
  }`

async function open() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-apart-'))
  const file = join(folder, 'parley.sqlite3')
  const db = await openSqlite(file)
  onTestFinished(async () => {
    await db.close()
    rmSync(folder, { recursive: true, force: true })
  })
  await db.tx((tx) => tx.all(sql`CREATE TABLE rooms (name TEXT UNIQUE)`))
  const module = pathToFileURL(join(folder, 'rooms.mjs'))
  writeFileSync(module, roomsModule)
  const names = async () =>
    (await db.all<{ name: string }>(sql`SELECT name FROM rooms ORDER BY name`)).map(({ name }) => name)
  return { db, module, names, file }
}

test('A unit in a thread is committed when it is done, and the event loop turns meanwhile', async () => {
  const { db, module, names } = await open()
  let done: unknown
  const working = db.apart(module, { name: 'attic', count: 1_000_000 }).then((answer) => {
    done = answer
  })
  let turns = 0
  while (done === undefined) {
    await turn()
    turns++
  }
  await working
  expect(done).toEqual({ name: 'attic', count: 1_000_000 })
  expect(turns).toBeGreaterThan(10)
  expect(await names()).toEqual(['attic'])
})

test('A unit in a thread that fails leaves nothing behind, says what another would, and the next one is done', async () => {
  const { db, module, names } = await open()
  await expect(db.apart(module, { name: 'attic', fails: true })).rejects.toThrow('there is no room')
  expect(await names()).toEqual([])
  await db.apart(module, { name: 'hall' })
  await expect(db.apart(module, { name: 'hall' })).rejects.toMatchObject({ kind: 'unique' })
  expect(await names()).toEqual(['hall'])
})

test('Units here get in between those of a long series in a thread, and none is lost', async () => {
  const { db, module, names } = await open()
  let left = 20
  const series = (async () => {
    for (; left > 0; left--) await db.apart(module, { name: `apart ${left}`, count: 20_000 })
  })()
  const leftThen: number[] = []
  for (let n = 0; left > 0; n++) {
    await db.tx((tx) => tx.all(sql`INSERT INTO rooms (name) VALUES (${`here ${n}`})`))
    leftThen.push(left)
  }
  await series
  // Each waits for one of the series at most.
  for (const [n, left] of leftThen.entries()) expect(left).toBeGreaterThanOrEqual(20 - n - 1)
  expect((await names()).length).toBe(20 + leftThen.length)
})

test('A database that is closed finishes the unit in its thread, and leaves no log beside the file', async () => {
  const { db, module, file } = await open()
  await db.apart(module, { name: 'cellar' })
  const working = db.apart(module, { name: 'attic', count: 300_000 })
  await db.close()
  expect(await working).toMatchObject({ name: 'attic' })
  expect(existsSync(`${file}-wal`)).toBe(false)
  await expect(db.apart(module, { name: 'hall' })).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
})

test('A thread does not write into a file that was put in the place of the one that is open', async () => {
  const { db, module, file } = await open()
  renameSync(file, `${file}.away`)
  writeFileSync(file, '')
  await expect(db.apart(module, { name: 'attic' })).rejects.toMatchObject({ kind: 'gone' })
  expect(statSync(file).size).toBe(0)
  renameSync(`${file}.away`, file)
})

/** A thread that runs `body` for each list of questions. */
function startThread(body: string, restMs?: number) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-asked-'))
  const script = pathToFileURL(join(folder, 'thread.mjs'))
  writeFileSync(
    script,
    `import { parentPort, threadId } from 'node:worker_threads'
    const answer = (asked) => parentPort.postMessage(asked.map(({ id }) => ({ id, found: threadId })))
    parentPort.on('message', (asked) => {
      if (asked === 'close') return parentPort.close()
      ${body}
    })`,
  )
  const thread = new AskedThread<{ ask: string }>(script, { told: () => undefined, ...(restMs && { restMs }) })
  onTestFinished(async () => {
    await thread.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { thread, ask: (what = 'who') => thread.ask<number>({ ask: what }) }
}

test('A thread that rests ends, and the next question starts another', async () => {
  const { ask } = startThread('answer(asked)', 20)
  const [first, same] = [await ask(), await ask()]
  expect(same).toBe(first)
  await expect.poll(() => ask(), { interval: 60, timeout: 10_000 }).not.toBe(first)
})

test.for([
  ['dies of an error', "throw new Error('too much')", 'too much'],
  ['ends', 'process.exit()', 'The thread has ended.'],
])('Who asks a thread that %s is told so, and the next question is answered by another', async ([, body, told]) => {
  const { ask } = startThread(`if (asked[0].ask !== 'fall') return answer(asked); ${body}`)
  const first = await ask()
  const falling = [ask('fall'), ask('fall')]
  for (const asked of falling) await expect(asked).rejects.toThrow(told)
  expect(await ask()).not.toBe(first)
})

test('A thread that does not answer is given up, and another answers', async () => {
  const { thread, ask } = startThread("if (asked[0].ask === 'stay') for (;;); answer(asked)")
  const first = await ask()
  const staying = ask('stay')
  setTimeout(() => thread.giveUp(), 50)
  await expect(staying).rejects.toThrow('did not answer in time')
  expect(await ask()).not.toBe(first)
})
