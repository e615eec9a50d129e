/** Measures of the guard: how long a commit of many files waits for it, with many leases in force. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { percentile } from './client.ts'
import type { Row } from './rows.ts'
import { benchProject, seedMail } from './seed-mail.ts'
import { startParley } from './server.ts'

const parley = fileURLToPath(new URL('../bin/parley.js', import.meta.url))
const leases = 1000
const files = 500

/** Nine in ten on a file each, the others with wildcards that no prefix keeps off. */
const pattern = (n: number): string => (n % 10 > 0 ? `src/part${n % 50}/other${n}.ts` : `**/made${n}/**`)

export async function guardRows(folder: string, rounds: number): Promise<Row[]> {
  const [storage, repository] = ['store', 'code'].map((name) => join(folder, name)) as [string, string]
  for (const path of [storage, repository]) mkdirSync(path)
  await (await startParley(storage)).stop()
  seedMail(storage, [0])
  seed(storage)
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, encoding: 'utf8' })
  git('init', '-q')
  for (let n = 0; n < files; n++) {
    mkdirSync(join(repository, 'src', `part${n % 50}`), { recursive: true })
    writeFileSync(join(repository, 'src', `part${n % 50}`, `file${n}.ts`), `export const n = ${n}\n`)
  }
  git('add', '-A')
  const env = { PATH: process.env.PATH ?? '', STORAGE_ROOT: storage }
  execFileSync(process.execPath, [parley, 'guard', 'install', benchProject, repository], { env, stdio: 'ignore' })
  const hook = join(repository, '.git', 'hooks', 'pre-commit')
  const timed = (program: string, ...args: string[]): number => {
    const began = performance.now()
    execFileSync(program, args, { cwd: repository, env: { PATH: env.PATH }, stdio: 'ignore' })
    return performance.now() - began
  }
  const times = Array.from({ length: rounds + 2 }, () => timed(hook)).slice(2)
  const starts = Array.from({ length: rounds }, () => timed(process.execPath, '-e', ''))
  const [median, slow, floor] = [percentile(times, 50), percentile(times, 95), percentile(starts, 50)]
  return [
    {
      what: `guard with ${leases.toLocaleString('en')} active leases and ${files} staged files`,
      measured: `p50 ${median.toFixed(0)} ms, p95 ${slow.toFixed(0)} ms (${(median / floor).toFixed(1)} times an empty Node, ${floor.toFixed(0)} ms)`,
      target: 'p95 ≤ 300 ms',
      reached: slow <= 300,
    },
  ]
}

function seed(storage: string): void {
  const db = new DatabaseSync(join(storage, 'parley.sqlite3'))
  const insert =
    db.prepare(`INSERT INTO leases (project_id, agent_id, pattern, prefix, exclusive, reason, created_at, expires_at)
    SELECT project_id, id, ?, '', 1, '', 0, 9000000000000 FROM agents WHERE name = 'Agent63'`)
  for (let n = 0; n < leases; n++) insert.run(pattern(n))
  db.close()
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-guard-'))
  try {
    for (const { what, measured, target, reached } of await guardRows(folder, 20))
      console.log(`| ${what} | ${measured} | ${target} | ${reached ? '✓' : '✗'} |`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
