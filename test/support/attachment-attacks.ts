import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { plainMail } from './mail.ts'
import { type Served, temporaryFolder } from './parley.ts'
import { drawing } from './pictures.ts'
import { initRepository } from './repository.ts'

export interface Told {
  code: string
  message: string
  hint: string
}

export const told = (call: Promise<unknown>): Promise<Told> =>
  call.then(
    () => Promise.reject(new Error('It was not refused.')),
    (error) => error,
  )

/** Where ATTACHMENT_ROOTS lists the folders of the projects, they need no git, which is not asked then what it ignores. */
export function attackedServer(parley: () => Served, { listed = false } = {}) {
  /** All rows of everything that a send could leave behind. */
  function stored(): unknown {
    const db = new DatabaseSync(join(parley().storage, 'parley.sqlite3'), { readOnly: true })
    try {
      return [
        'messages',
        'attachments',
        'attachment_parts',
        'staged_contents',
        'inline_images',
        'agents',
        'contacts',
        'threads',
      ].map((table) => db.prepare(`SELECT COUNT(*) AS count FROM ${table}`).get()?.count)
    } finally {
      db.close()
    }
  }

  /** A project in a folder of its own, with a file outside of it. */
  async function newRepository() {
    const folder = await temporaryFolder()
    const project = join(folder, 'repository')
    await mkdir(join(project, 'docs'), { recursive: true })
    if (!listed) await initRepository(project)
    await writeFile(join(folder, 'secret.png'), await drawing().png().toBuffer())
    await writeFile(join(folder, 'secret.txt'), 'secret')
    const door = plainMail(parley())
    for (const name of ['GreenCastle', 'BlueLake'])
      await door.call('register_agent', { project_key: project, program: 'test', model: 'none', name })
    const send = <Answer = Record<string, unknown>>(more: Record<string, unknown>) =>
      door.call<Answer>('send_message', {
        project_key: project,
        sender_name: 'GreenCastle',
        // Nobody is called that: a send that goes wrong makes no agent either.
        to: ['NewComer'],
        subject: 'Plan',
        body_md: 'hello',
        ...more,
      })
    const write = (path: string, content: Buffer | string) => writeFile(join(project, path), content)
    return { folder, project, send, write }
  }

  type Repository = Awaited<ReturnType<typeof newRepository>>

  /** Both ways in: as a path, and as an image of the Markdown where it could be one. */
  async function refuses({ send }: Repository, address: string, { markdown = true } = {}): Promise<Told> {
    const before = stored()
    const error = await told(send({ attachment_paths: [address] }))
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', hint: expect.stringContaining('Nothing was sent.') })
    if (markdown) {
      const inText = await told(send({ body_md: `look ![at this](<${address}>)` }))
      expect(inText, address).toMatchObject({ code: 'INVALID_ARGUMENT', message: error.message })
    }
    expect(stored()).toEqual(before)
    return error
  }

  return { stored, newRepository, refuses }
}
