/** A hub with a project whose messages carry attachments, for tests of the core. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { HubError } from '../../src/base/errors.ts'
import { local } from '../../src/core/access/callers.ts'
import { register } from '../../src/core/agents/registration.ts'
import type { Rules } from '../../src/core/hub/hub.ts'
import { listInbox } from '../../src/core/mail/inbox.ts'
import { type Draft, send } from '../../src/core/messages/send.ts'
import { needProject } from '../../src/core/projects/projects.ts'
import type { Db, Reader } from '../../src/db/port.ts'
import { findFile, findPart } from '../../src/store/messages/attachments.ts'
import { TestClock } from './clock.ts'
import type { TestDatabase } from './engines.ts'
import { openTestHub, registered, usualRules } from './hub.ts'
import { temporaryFolder } from './parley.ts'

type Told = Pick<HubError, 'code' | 'message' | 'hint'>

export const failure = (work: Promise<unknown>): Promise<Told> =>
  work.then(
    () => Promise.reject(new Error('It was not refused.')),
    (error) => {
      expect(error).toBeInstanceOf(HubError)
      return error as HubError
    },
  )

export async function startAttachments(open: () => Promise<TestDatabase>, rules: Partial<Rules['attachments']> = {}) {
  const database = await open()
  const db = await database.connect()
  const clock = new TestClock()
  // Listed, it needs no git, which is not asked then what it ignores.
  const project = await temporaryFolder()
  const hub = await openTestHub(db, {
    clock,
    rules: { attachments: { ...usualRules.attachments, roots: [project], ...rules } },
  })
  await mkdir(join(project, 'docs'))
  for (const name of ['GreenCastle', 'BlueLake']) await register(hub, local, { project, name })
  const { id: projectId } = await needProject(hub, local, project)
  const green = registered('GreenCastle', project)
  return {
    database,
    db,
    clock,
    hub,
    project,
    projectId,
    green,
    write: (path: string, content: Buffer | string) => writeFile(join(project, path), content),
    send: (draft: Partial<Draft> = {}) =>
      send(hub, green, { to: [{ name: 'BlueLake' }], subject: 'Plan', body: 'hello', enclosing: {}, ...draft }),
    inbox: async () => (await listInbox(hub, registered('BlueLake', project), { limit: 10, bodies: true })).messages,
    content: (path: string) => contentOf(db, projectId, path),
  }
}

/** How much of everything there is. */
export const counts = async (db: Db) => {
  const [row] = await db.all<Record<string, number>>(sql`
    SELECT (SELECT COUNT(*) FROM messages) AS messages, (SELECT COUNT(*) FROM attachments) AS files,
      (SELECT COUNT(*) FROM attachment_parts) AS parts, (SELECT COUNT(*) FROM staged_contents) AS staged,
      (SELECT COUNT(*) FROM inline_images) AS inline, (SELECT COUNT(*) FROM agents) AS agents,
      (SELECT SUM(attachment_bytes) FROM projects) AS bytes`)
  return Object.fromEntries(Object.entries(row ?? {}).map(([name, count]) => [name, Number(count)]))
}

/** All parts of a file together. */
export async function contentOf(db: Reader, projectId: number, path: string): Promise<Buffer | undefined> {
  const file = await findFile(db, projectId, path)
  if (file === undefined) return undefined
  const parts: Uint8Array[] = []
  for (let part = await findPart(db, file.content, 0); part !== undefined; ) {
    parts.push(part)
    part = await findPart(db, file.content, parts.length)
  }
  return Buffer.concat(parts)
}
