/** `npm run stored:migrate`: makes a database of each stored release, brings it up to date by `parley migrate`, and lists its projects. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../bin/runtime.js'
import { systemClock } from '../src/base/clock.ts'
import { openDb } from '../src/db/open.ts'
import { fillStored, storedDatabases } from '../test/support/stored-databases.ts'
import { build } from './build.ts'

await build()
for (const { release, stored } of storedDatabases()) {
  const storage = mkdtempSync(join(tmpdir(), 'parley-stored-'))
  const db = await openDb(`sqlite:${join(storage, 'parley.sqlite3')}`)
  await fillStored(db, stored, systemClock)
  await db.close()
  const env = { PATH: process.env.PATH, HOME: storage, STORAGE_ROOT: storage }
  for (const command of [['migrate'], ['list-projects', '--include-agents']]) {
    console.log(`\n${release}: parley ${command.join(' ')}`)
    // A command that fails ends this one too, with its words.
    execFileSync(process.execPath, [join(root, 'bin', 'parley.js'), ...command], { env, stdio: 'inherit' })
  }
  rmSync(storage, { recursive: true })
}
