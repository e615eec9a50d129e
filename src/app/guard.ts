/** The guard as a hook starts it: staged files against what other agents hold. It loads little, because every commit waits for it. */

import { systemClock } from '../base/clock.ts'
import { collisionsOf, heldByOthers, stagedPaths } from '../guard/check-staged.ts'
import { type Carried, stopped } from '../guard/hook.ts'
import type { Looked } from './guard-file.ts'

/** The process around it, or what a test puts in its place. */
interface Commit {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  say(text: string): void
}

/** The exit code. A commit is stopped by a conflict only: where nothing can be found out, it passes with a warning (mail.guard.away). */
export async function guard(carried: Carried, { env, cwd, say }: Commit): Promise<number> {
  const { AGENT_NAME: committer = '', PARLEY_GUARD: mode = '' } = env
  if (mode === 'off') {
    say('parley guard: skipped, because PARLEY_GUARD is off.\n')
    return 0
  }
  if (!['', 'warn'].includes(mode))
    say('parley guard: PARLEY_GUARD is neither "warn" nor "off", and counts as unset.\n')
  try {
    const [paths, { held, unknown, id }] = await Promise.all([stagedPaths(cwd), lookInto(carried, env)])
    if (unknown) say(await unknownCommitter(committer, carried))
    if (id !== undefined) await tellOfOther(carried, id, say)
    const touched = collisionsOf(paths, held, carried)
    if (touched.length === 0) return 0
    const collisions = await heldByOthers(touched, committer, carried)
    if (collisions.length === 0) return 0
    // Loaded only now: most commits need none of it, and each of them waits.
    const { guardReport } = await import('../doors/cli/guard/report.ts')
    say(guardReport(collisions, { committer, passes: mode === 'warn', now: systemClock.now() }))
    return mode === 'warn' ? 0 : stopped
  } catch (error) {
    const { harmlessLine } = await import('../doors/cli/terminal/harmless.ts')
    const reason = error instanceof Error ? error.message : String(error)
    say(`parley guard: warning: this commit was not checked. ${harmlessLine(reason)}\n`)
    return 0
  }
}

/**
 * The file itself where the data is in SQLite: it is right whether or not the server runs. PostgreSQL would need a password,
 * hence the server is asked, and the database only if the environment names it.
 */
async function lookInto(carried: Carried, env: Commit['env']): Promise<Looked> {
  if (carried.database !== undefined) {
    const { heldInFile } = await import('./guard-file.ts')
    return heldInFile(carried.database, carried.project, env.AGENT_NAME ?? '')
  }
  const { heldByServer } = await import('./guard-server.ts')
  return heldByServer(carried, env)
}

/** Its own reservations would stop such a committer: they are held under another name. */
async function unknownCommitter(committer: string, { project }: Carried): Promise<string> {
  const { word } = await import('../doors/cli/terminal/harmless.ts')
  return `parley guard: warning: the project ${project} has no agent ${word(committer)}, which AGENT_NAME names. Set it to the name that you registered under.\n`
}

/** Agents reserve by the server: where that works on another store, this one knows nothing of it. */
async function tellOfOther({ storage_root, server, database }: Carried, id: string, say: Commit['say']): Promise<void> {
  const { markOf, warnOfOtherStore } = await import('./other-store.ts')
  if (database === undefined) return
  const mark = async () => markOf(id, { dialect: 'sqlite', file: database })
  const looking = { storageRoot: storage_root, url: server, store: `SQLite ${database}`, id: mark }
  const warning = await warnOfOtherStore(looking)
  if (warning !== undefined) say(`parley guard: warning: ${warning}\n`)
}
