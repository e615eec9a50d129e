/** Files of this machine that mail never carries: a local caller names any folder as its project, and any path in it. */
import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, vi } from 'vitest'
import { attackedServer, told } from '../support/attachment-attacks.ts'
import { type Message, plainMail, type Receipt } from '../support/mail.ts'
import { serveHere, shareServer, temporaryFolder } from '../support/parley.ts'
import { drawing } from '../support/pictures.ts'
import { initRepository } from '../support/repository.ts'
import { gitOutput } from '../support/starter.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()
const { stored, newRepository, refuses } = attackedServer(parley)

/** A send of one file out of any folder. */
async function attach(at: { url: string }, project_key: string, path: string) {
  const door = plainMail(at)
  await door.call('register_agent', { project_key, program: 'test', model: 'none', name: 'GreenCastle' })
  const message = { project_key, sender_name: 'GreenCastle', to: ['BlueLake'], subject: 'x', body_md: 'x' }
  return door.call<Receipt>('send_message', { ...message, attachment_paths: [path] })
}

verifies('mail.attach.ground', 'files of a folder that is no git repository', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'notes.txt'), 'notes')
  await writeFile(join(folder, 'flow.png'), await drawing().png().toBuffer())
  const error = await told(attach(parley(), folder, 'notes.txt'))
  expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('no git repository') })
  expect(error.hint).toMatch(/data URI/)
  // Whether there is such a file is not told.
  expect((await told(attach(parley(), folder, 'missing.txt'))).message).toBe(
    error.message.replace('notes.txt', 'missing.txt'),
  )
  // An image that the Markdown names stays as written, as for whoever calls with a key.
  const door = plainMail(parley())
  const body_md = '![flow](flow.png)'
  const me = { project_key: folder, sender_name: 'GreenCastle' }
  expect(await door.call('send_message', { ...me, to: ['BlueLake'], subject: 'x', body_md })).not.toHaveProperty(
    'attachments',
  )
  // A folder inside of a repository is none.
  await initRepository(folder)
  expect(await attach(parley(), folder, 'notes.txt')).toMatchObject({ count: 1 })
  await mkdir(join(folder, 'part'))
  await writeFile(join(folder, 'part/notes.txt'), 'notes')
  const { message } = await told(attach(parley(), join(folder, 'part'), 'notes.txt'))
  expect(message).toMatch(/no git repository/)
  expect(message).toContain(`use the project ${JSON.stringify(folder)}`)
})

verifies('mail.attach.ground', 'ATTACHMENT_ROOTS lists folders whose projects need no git', async () => {
  const root = await temporaryFolder()
  const project = join(root, 'project')
  await mkdir(project)
  await writeFile(join(project, 'notes.txt'), 'notes')
  await writeFile(join(project, '.env'), 'TOKEN=x')
  const other = await temporaryFolder()
  await writeFile(join(other, 'notes.txt'), 'notes')
  const server = await serveHere({ env: { ATTACHMENT_ROOTS: `${root}, /` } })
  expect(await attach(server, project, 'notes.txt')).toMatchObject({ count: 1 })
  expect(await attach(server, other, 'notes.txt')).toMatchObject({ count: 1 })
  expect((await told(attach(server, project, '.env'))).message).toMatch(/is hidden/)
  // The ignore rules of a repository around the project count as far as the listed folder.
  await initRepository(root)
  await writeFile(join(root, '.gitignore'), 'notes.txt\n')
  expect((await told(attach(server, project, 'notes.txt'))).message).toMatch(/ignored by git/)
  for (const folder of ['/', '/etc', '/usr/share', '/var', '/proc/self', '/home', homedir()])
    expect((await told(attach(server, folder, 'notes.txt'))).message, folder).toMatch(/home or system folder/)
  expect((await told(attach(server, '/', 'etc/shadow'))).hint).toMatch(/data URI/)
})

verifies('mail.attach.ground', 'a home folder that is reached by a link is one', async () => {
  const folder = await temporaryFolder()
  const home = join(folder, 'data/ann')
  await mkdir(home, { recursive: true })
  await writeFile(join(home, 'notes.txt'), 'notes')
  for (const repository of [home, join(folder, 'data')]) await initRepository(repository)
  const link = join(folder, 'home')
  await symlink(home, link)
  vi.stubEnv('HOME', link)
  onTestFinished(() => void vi.unstubAllEnvs())
  for (const [project, path] of [
    [home, 'notes.txt'],
    [link, 'notes.txt'],
    [join(folder, 'data'), 'ann/notes.txt'],
  ] as const)
    expect((await told(attach(parley(), project, path))).message, project).toMatch(/home or system folder/)
})

verifies('mail.attach.hidden', 'a hidden folder is none for being named as the project', async () => {
  const root = await temporaryFolder()
  const projects = ['.store', '.trees/plain', '.trees/repository'].map((name) => join(root, name))
  const [store = '', plain = '', repository = ''] = projects
  for (const project of projects) {
    await mkdir(project, { recursive: true })
    await writeFile(join(project, 'notes.txt'), 'notes')
  }
  for (const made of [store, repository]) await initRepository(made)
  const link = join(root, 'link')
  await symlink(store, link)
  const [listed, within, open] = await Promise.all([
    serveHere({ env: { ATTACHMENT_ROOTS: root } }),
    serveHere({ env: { ATTACHMENT_ROOTS: join(root, '.trees') } }),
    serveHere({ env: { ATTACHMENT_ROOTS: root, ATTACHMENT_HIDDEN: 'true' } }),
  ])
  for (const project of [...projects, link]) {
    const { message, hint } = await told(attach(listed, project, 'notes.txt'))
    expect(message, project).toMatch(/hidden.*ATTACHMENT_HIDDEN=true/)
    expect(hint).toMatch(/data URI/)
    expect(await attach(open, project, 'notes.txt'), project).toMatchObject({ count: 1 })
  }
  expect((await told(attach(parley(), store, 'notes.txt'))).message).toMatch(/hidden/)
  // A hidden folder that is listed by name is meant.
  for (const project of [plain, repository])
    expect(await attach(within, project, 'notes.txt'), project).toMatchObject({ count: 1 })
})

verifies('mail.attach.hidden', 'hidden files, keys and ignored files of a repository', async () => {
  const at = await newRepository()
  await mkdir(join(at.project, '.config'))
  await mkdir(join(at.project, 'build'))
  await mkdir(join(at.project, 'clone/inner'), { recursive: true })
  await at.write('.gitignore', 'build/\n*.local\n!kept.local\n/clone/\n')
  await at.write('clone/inner/a.txt', 'of a repository that this one ignores')
  await initRepository(join(at.project, 'clone'))
  await at.write('.env', 'HTTP_BEARER_TOKEN=secret')
  await at.write('.config/app.json', '{}')
  await at.write('build/plot.png', await drawing().png().toBuffer())
  await at.write('settings.local', 'x')
  await at.write('kept.local', 'x')
  await at.write('-a :(top) name.txt', 'x')
  await at.write(':(glob)*.local.txt', 'x')
  await at.write('server.pem', 'x')
  await at.write('id_ed25519', 'x')
  await at.write('id_ed25519.pub', 'ssh-ed25519 AAAA')
  await at.write('deploy.txt', 'x\n-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n')
  await symlink('.env', join(at.project, 'plain.txt'))
  await symlink('settings.local', join(at.project, 'linked.txt'))
  const cases: [path: string, why: RegExp][] = [
    ['.env', /is hidden/],
    ['docs/../.env', /is hidden/],
    ['.config/app.json', /is hidden/],
    ['.git/config', /is hidden/],
    ['plain.txt', /is hidden/],
    ['server.pem', /private key/],
    ['id_ed25519', /private key/],
    ['deploy.txt', /private key/],
    ['settings.local', /ignored by git/],
    ['linked.txt', /ignored by git/],
    ['clone/inner/a.txt', /ignored by git/],
  ]
  for (const [path, why] of cases) {
    const error = await refuses(at, path, { markdown: false })
    expect(error.message, path).toMatch(why)
    expect(error.hint).toMatch(/data URI.*ATTACHMENT_HIDDEN=true/)
  }
  expect((await refuses(at, 'build/plot.png')).message).toMatch(/ignored by git/)
  const allowed = ['kept.local', 'id_ed25519.pub', '-a :(top) name.txt', ':(glob)*.local.txt']
  expect(await at.send({ attachment_paths: allowed })).toMatchObject({ count: 1 })
  const open = await serveHere({ env: { ATTACHMENT_HIDDEN: 'true' } })
  for (const [path] of cases) expect(await attach(open, at.project, path), path).toMatchObject({ count: 1 })
})

verifies('mail.attach.hidden', 'a repository cannot have git run or read anything for it', async () => {
  const at = await newRepository()
  await at.write('notes.txt', 'x')
  const ran = join(at.folder, 'ran')
  await writeFile(join(at.folder, 'run.sh'), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 })
  const git = (...args: string[]) => gitOutput(args, { cwd: at.project })
  await git('add', 'notes.txt')
  await git('config', 'core.fsmonitor', join(at.folder, 'run.sh'))
  await git('config', 'core.hooksPath', at.folder)
  expect(await at.send({ attachment_paths: ['notes.txt'] })).toMatchObject({ count: 1 })
  expect(await readdir(at.folder)).not.toContain('ran')
  await at.write('.gitignore', 'secret.txt\n')
  await at.write('secret.txt', 'x')
  await git('config', 'core.worktree', tmpdir())
  expect((await refuses(at, 'secret.txt', { markdown: false })).message).toMatch(/ignored by git/)
  expect(await at.send({ attachment_paths: ['notes.txt'] })).toMatchObject({ count: 1 })
  // Where git cannot say what is ignored, nothing is read.
  await rm(join(at.project, '.git/HEAD'))
  const before = stored()
  expect((await told(at.send({ attachment_paths: ['notes.txt'] }))).message).toMatch(/could not be asked/)
  expect(stored()).toEqual(before)
})

verifies('mail.attach.untouched', 'the repository of the sender is as it was, byte by byte', async () => {
  const at = await newRepository()
  await at.write('notes.txt', 'x')
  await at.write('.git/info/attributes', '*.psd filter=lfs\n')
  const before = await contentsOf(join(at.project, '.git'))
  expect(await at.send({ attachment_paths: ['notes.txt'] })).toMatchObject({ count: 1 })
  expect(await contentsOf(join(at.project, '.git'))).toEqual(before)
})

/** All files below a folder, by their paths. */
async function contentsOf(folder: string): Promise<Record<string, string>> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = found.filter((one) => one.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await readFile(path, 'base64')])))
}

verifies('mail.attach.worktrees', 'linked worktrees, submodules and clones that share objects', async () => {
  const at = await newRepository()
  await at.write('.gitignore', '*.local\n')
  const as = ['-c', 'user.name=x', '-c', 'user.email=x@example.com', '-c', 'protocol.file.allow=always']
  const git = (cwd: string, ...args: string[]) => gitOutput([...as, ...args], { cwd })
  await git(at.project, 'add', '.gitignore')
  await git(at.project, 'commit', '--quiet', '-m', 'x')
  const [linked, shared, around] = ['linked', 'shared', 'around'].map((name) => join(at.folder, name)) as [
    string,
    string,
    string,
  ]
  await git(at.project, 'worktree', 'add', '--quiet', linked)
  await git(at.folder, 'clone', '--quiet', '--shared', at.project, shared)
  await git(at.folder, 'init', '--quiet', around)
  await git(around, 'submodule', '--quiet', 'add', at.project, 'part')
  for (const folder of [linked, shared, join(around, 'part')]) {
    await writeFile(join(folder, 'notes.txt'), 'notes')
    await writeFile(join(folder, 'secret.local'), 'x')
    expect(await attach(parley(), folder, 'notes.txt'), folder).toMatchObject({ count: 1 })
    expect((await told(attach(parley(), folder, 'secret.local'))).message, folder).toMatch(/ignored by git/)
  }
})

verifies('mail.attach.untouched', 'git that does not answer is ended, and the file refused', async () => {
  const at = await newRepository()
  await at.write('notes.txt', 'x')
  const pipe = join(at.folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  // Nobody writes there: git would wait for its patterns for ever.
  await gitOutput(['config', 'core.excludesFile', pipe], { cwd: at.project })
  const error = await told(at.send({ attachment_paths: ['notes.txt'] }))
  expect(error.message).toMatch(/could not be asked/)
})

verifies('mail.attach.own-files', 'the settings of Parley itself are closed, whatever is allowed', async () => {
  const at = await newRepository()
  await at.write('parley.env', 'HTTP_BEARER_TOKEN=the-operators-token')
  await at.write('bridge.json', '{"servers": {}}')
  await at.write('linked.txt', '')
  const env = {
    ATTACHMENT_HIDDEN: 'true',
    ATTACHMENT_ROOTS: '/',
    PARLEY_ENV_FILE: join(at.project, 'parley.env'),
    BRIDGE_CONFIG: join(at.project, 'bridge.json'),
    DATABASE_URL: `sqlite:${join(at.project, 'mail.db')}`,
  }
  const server = await serveHere({ env })
  await symlink('parley.env', join(at.project, 'link.txt'))
  for (const path of ['parley.env', 'bridge.json', 'link.txt', 'mail.db', 'mail.db-wal'])
    expect((await told(attach(server, at.project, path))).message, path).toMatch(/file of Parley itself/)
  expect((await told(attach(server, server.storage, 'secret_key'))).code).toBe('INVALID_ARGUMENT')
})

verifies('mail.attach.convert', 'an image of the Markdown that is not converted is stored as it is', async () => {
  const at = await newRepository()
  const png = await drawing().png().toBuffer()
  await at.write('docs/flow.png', png)
  const body_md = '![flow](docs/flow.png) and ![gone](docs/gone.png)'
  const { message_id, attachments } = await at.send<Receipt & { attachments: { path: string }[] }>({
    body_md,
    convert_images: false,
  })
  expect(attachments).toMatchObject([{ type: 'file', media_type: 'image/png', bytes: png.length }])
  const [{ path = '' } = {}] = attachments
  const project = encodeURIComponent(at.project)
  const { body_md: shown } = await plainMail(parley()).read<Message>(
    `resource://message/${message_id}?project=${project}`,
  )
  expect(shown).toBe(`![flow](${path}) and ![gone](docs/gone.png)`)
})

verifies('mail.attach.text', 'a data URI of plain text is stored as .txt', async () => {
  const at = await newRepository()
  for (const uri of ['data:text/plain,hello', 'data:,hello', 'data:text/plain;charset=utf-8;base64,aGVsbG8='])
    expect(await at.send({ attachment_paths: [uri] })).toMatchObject({
      attachments: [{ media_type: 'text/plain', path: expect.stringMatching(/\.txt$/) }],
    })
})
