/** The leases of agents, read from the SQLite file. */
import { statSync } from 'node:fs'
import { systemClock } from '../base/clock.ts'
import { nameKey } from '../base/names.ts'
import { storeIdOf } from '../core/hub/public-ids.ts'
import type { Reader } from '../db/port.ts'
import { openReadOnly } from '../db/sqlite/read-only.ts'
import type { Held } from '../guard/check-staged.ts'
import { findAgent } from '../store/agents/agents.ts'
import { listExclusive } from '../store/leases.ts'
import { findMeta } from '../store/meta.ts'
import { findMerged, findProject } from '../store/projects.ts'

/** The leases of agents, and whether the committer is one of the project's agents. */
export interface Looked {
  readonly held: readonly Held[]
  /** Whether AGENT_NAME is set and names nobody there. */
  readonly unknown: boolean
  /** Of the store, where it was looked into. */
  readonly id?: string
}

export async function heldInFile(file: string, project: string, committer: string): Promise<Looked> {
  if (statSync(file, { throwIfNoEntry: false }) === undefined)
    throw new Error(`There is no Parley store at ${file} any more.`)
  const db = openReadOnly(file)
  try {
    return await heldInDatabase(db, project, committer)
  } finally {
    db.close()
  }
}

export async function heldInDatabase(db: Reader, project: string, committer: string): Promise<Looked> {
  const found = (await findProject(db, project)) ?? (await findMerged(db, project))
  if (found === undefined) throw new Error(`The Parley store has no project ${project}.`)
  const rows = await listExclusive(db, found.id, systemClock.now())
  const held = rows.map(({ id, agent, pattern, reason, expires_at }) => ({
    id,
    agent,
    pattern,
    reason,
    expiresAt: expires_at,
  }))
  const name = nameOf(committer)
  const unknown = name !== '' && (await findAgent(db, found.id, nameKey(name))) === undefined
  return { held, unknown, id: storeIdOf((await findMeta(db, 'uuid_namespace')) ?? '') }
}

/** `Name@project` is taken too. */
const nameOf = (committer: string): string => committer.trim().split('@')[0] ?? ''
