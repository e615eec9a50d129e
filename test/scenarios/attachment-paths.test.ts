/** Attachments whose path attacks: each is refused with a hint, nothing is stored, nobody is made, nothing is sent. */
import { execFileSync } from 'node:child_process'
import { mkdir, open, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, vi } from 'vitest'
import { attackedServer, told } from '../support/attachment-attacks.ts'
import { plainMail } from '../support/mail.ts'
import { shareServer } from '../support/parley.ts'
import { drawing } from '../support/pictures.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()
const { stored, newRepository, refuses } = attackedServer(parley)

afterEach(() => void vi.restoreAllMocks())

verifies(['mail.attach.inside', 'mail.attach.refused'], 'a path that leaves the folder of the project', async () => {
  const at = await newRepository()
  const { folder, project } = at
  await symlink('../secret.png', join(project, 'link.png'))
  await symlink(folder, join(project, 'up'))
  await symlink('link.png', join(project, 'twice.png'))
  const outside = [
    '../secret.png',
    'docs/../../secret.png',
    './/docs/./../../secret.png',
    join(folder, 'secret.png'),
    `${project}-elsewhere/secret.png`,
    'link.png',
    'twice.png',
    'up/secret.png',
    // Whether it exists is not told.
    '../no-such-file.png',
  ]
  for (const path of outside) expect((await refuses(at, path)).message).toMatch(/leaves the project's folder/)
  expect((await refuses(at, '../secret.txt', { markdown: false })).message).toMatch(/leaves the project's folder/)
  // In Markdown an address may be escaped.
  expect(await told(at.send({ body_md: '![x](docs/%2e%2e/%2e%2e/secret.png)' }))).toMatchObject({
    message: expect.stringMatching(/leaves the project's folder/),
  })
  // A link that stays inside is followed.
  await at.write('docs/real.png', await drawing().png().toBuffer())
  await symlink('docs/real.png', join(project, 'inside.png'))
  expect(await at.send({ attachment_paths: ['inside.png', join(project, 'docs/real.png')] })).toMatchObject({
    count: 1,
  })
})

verifies(['mail.attach.plain', 'mail.attach.refused'], 'what is no plain file, or no file of the project', async () => {
  const at = await newRepository()
  const { project } = at
  execFileSync('mkfifo', [join(project, 'pipe.png')])
  await mkdir(join(project, 'folder.png'))
  const socket = createServer().listen(join(project, 'socket.png'))
  onTestFinished(() => void socket.close())
  for (const path of ['pipe.png', 'folder.png', 'socket.png'])
    expect((await refuses(at, path)).message).toMatch(/is no plain file/)
  await symlink('/dev/zero', join(project, 'zero.png'))
  await symlink('/proc/self/environ', join(project, 'environ.png'))
  for (const path of ['zero.png', 'environ.png', '/dev/zero', '/proc/self/environ'])
    expect((await refuses(at, path, { markdown: path.endsWith('.png') })).message).toMatch(
      /leaves the project's folder/,
    )
  const before = stored()
  expect(await told(at.send({ attachment_paths: ['docs/flow.png\u0000.txt'] }))).toMatchObject({
    code: 'INVALID_ARGUMENT',
  })
  expect(stored()).toEqual(before)
})

verifies('mail.attach.plain', "projects in /proc, /dev and Parley's own storage", async () => {
  const door = plainMail(parley())
  const cases: [string, string[]][] = [
    ['/proc/self', ['environ', 'fd/0', 'root/etc/hostname']],
    ['/dev', ['zero', 'null']],
    ['/', ['proc/self/environ', 'dev/zero', join(parley().storage, 'parley.sqlite3').slice(1)]],
    [parley().storage, ['parley.sqlite3', 'parley.sqlite3-wal']],
  ]
  for (const [project_key, paths] of cases) {
    await door.call('register_agent', { project_key, program: 'test', model: 'none', name: 'GreenCastle' })
    const before = stored()
    for (const path of paths) {
      const call = { project_key, sender_name: 'GreenCastle', to: ['NewComer'], subject: 'x', body_md: 'x' }
      const error = await told(door.call('send_message', { ...call, attachment_paths: [path] }))
      expect(error, `${project_key} ${path}`).toMatchObject({ code: 'INVALID_ARGUMENT' })
    }
    expect(stored()).toEqual(before)
  }
})

verifies('mail.attach.steady', 'a file that changes while it is read', async () => {
  const at = await newRepository()
  const file = join(at.project, 'log.txt')
  await writeFile(file, 'x'.repeat(1000))
  const handle = await open(file, 'a')
  onTestFinished(() => handle.close())
  const prototype = Object.getPrototypeOf(handle)
  const { read } = prototype
  const meddle = (work: () => Promise<unknown>) =>
    vi.spyOn(prototype, 'read').mockImplementationOnce(async function (this: unknown, ...args: unknown[]) {
      await work()
      return read.apply(this, args)
    })
  for (const work of [() => handle.appendFile('more'), () => handle.truncate(10), () => handle.write('y', 0)]) {
    await writeFile(file, 'x'.repeat(1000))
    meddle(work)
    expect((await refuses(at, 'log.txt', { markdown: false })).message).toMatch(/changed while it was read/)
    vi.restoreAllMocks()
  }
})
