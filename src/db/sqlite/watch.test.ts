/** The look-out for other processes, on a file system that reports no changes. */
import fs, { type FSWatcher, mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sql from 'sql-template-tag'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openSqlite } from './sqlite.ts'

/** Replaces `watch` for every importer, until the test ends. */
function replaceWatch(watch: (path: unknown, options: unknown, heard: unknown) => FSWatcher): void {
  const spy = vi.spyOn(fs, 'watch').mockImplementation(watch as typeof fs.watch)
  syncBuiltinESMExports()
  onTestFinished(() => {
    spy.mockRestore()
    syncBuiltinESMExports()
  })
}

/** Two connections as two processes have them, one of them listening. */
async function openTwo() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-watch-'))
  const file = join(folder, 'parley.sqlite3')
  const [here, there] = [await openSqlite(file), await openSqlite(file)]
  onTestFinished(async () => {
    await Promise.all([here.close(), there.close()])
    rmSync(folder, { recursive: true, force: true })
  })
  await there.tx((tx) => tx.all(sql`CREATE TABLE rooms (name TEXT)`))
  const hinted = Promise.withResolvers<unknown>()
  await here.listen(hinted.resolve)
  return {
    hinted: hinted.promise,
    write: () => there.tx((tx) => tx.all(sql`INSERT INTO rooms (name) VALUES ('hall')`)),
  }
}

test('A commit is noticed soon when the folder cannot be watched', async () => {
  replaceWatch(() => {
    throw new Error('ENOSPC: System limit for number of file watchers reached')
  })
  const { hinted, write } = await openTwo()
  await write()
  expect(await hinted).toBeUndefined()
})

test('A commit is there when the bell rings, and our own rings wake nobody', async () => {
  const rings: { path: unknown; heard: () => void }[] = []
  const silent = { on: () => silent, close: () => {} }
  replaceWatch((path, _options, heard) => {
    rings.push({ path, heard: heard as () => void })
    return silent as unknown as FSWatcher
  })
  const { hinted, write } = await openTwo()
  const [bell] = rings
  expect(String(bell?.path)).toMatch(/parley\.sqlite3-bell$/)
  let woken = false
  void hinted.then(() => {
    woken = true
  })
  bell?.heard()
  await Promise.resolve()
  expect(woken).toBe(false)
  await write()
  bell?.heard()
  await Promise.resolve()
  expect(woken).toBe(true)
})

test('A commit is noticed in the end when the watch never says anything', async () => {
  const silent = { on: () => silent, close: () => {} }
  replaceWatch(() => silent as unknown as FSWatcher)
  const { hinted, write } = await openTwo()
  await write()
  expect(await hinted).toBeUndefined()
})
