/** The leases of agents, read from the SQLite file. */
import { statSync } from 'node:fs'
import { systemClock } from '../base/clock.ts'
import type { Reader } from '../db/port.ts'
import { openReadOnly } from '../db/sqlite/read-only.ts'
import type { Held } from '../guard/judging.ts'
import { listExclusive } from '../store/leases.ts'
import { findProject } from '../store/projects.ts'

export async function heldInFile(file: string, project: string): Promise<Held[]> {
  if (statSync(file, { throwIfNoEntry: false }) === undefined)
    throw new Error(`There is no Parley store at ${file} any more.`)
  const db = openReadOnly(file)
  try {
    return await heldInDatabase(db, project)
  } finally {
    db.close()
  }
}

export async function heldInDatabase(db: Reader, project: string): Promise<Held[]> {
  const found = await findProject(db, project)
  if (found === undefined) throw new Error(`The Parley store has no project ${project}.`)
  const rows = await listExclusive(db, found.id, systemClock.now())
  return rows.map(({ id, agent, pattern, reason, expires_at }) => ({
    id,
    agent,
    pattern,
    reason,
    expiresAt: expires_at,
  }))
}
