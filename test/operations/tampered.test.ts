/** Backups and archives that somebody has tampered with: nothing in them runs a program, writes elsewhere or ends in a stack trace. */
import { existsSync } from 'node:fs'
import { appendFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { parleyCommand } from '../support/cli.ts'
import { mailbox, serveHere, share, temporaryFolder } from '../support/parley.ts'
import { reseal } from '../support/resealed.ts'
import { verifies } from '../support/verifies.ts'

const whole = share(async (later) => {
  const storage = await temporaryFolder(later)
  const server = await serveHere({ storage, later })
  await mailbox(server, 'alice').send('bob', 'one')
  await server.stop()
  expect(await parleyCommand({ storage }, ['archive', 'rebuild'])).toMatchObject({ code: 0, stderr: '' })
  return storage
})

/** A store with an archive, and a folder where a program that runs leaves a mark. */
async function furnished() {
  const storage = await temporaryFolder()
  await cp(whole(), storage, { recursive: true })
  const marks = await temporaryFolder()
  return { storage, marks, repository: join(storage, 'projects', 'commons') }
}

/** Settings that run something at every occasion git has, and that lead elsewhere. */
const hostile = (marks: string) => `[core]
\tfsmonitor = "touch ${marks}/fsmonitor; false"
\thooksPath = ${marks}/hooks
\tworktree = ${marks}/elsewhere
\tattributesFile = ${marks}/attributes
[filter "evil"]
\tsmudge = "touch ${marks}/smudge; cat"
\tclean = "touch ${marks}/clean; cat"
\trequired = true
[log]
\tshowSignature = true
[gpg]
\tprogram = "${marks}/gpg"
[remote "evil"]
\turl = "ext::sh -c touch% ${marks}/fetched"
\tpromisor = true
[protocol "ext"]
\tallow = always
`

async function layTraps(marks: string): Promise<void> {
  await mkdir(join(marks, 'hooks'))
  await mkdir(join(marks, 'elsewhere'))
  await writeFile(join(marks, 'attributes'), '* filter=evil\n')
  for (const name of ['post-index-change', 'post-checkout', 'reference-transaction'])
    await writeFile(join(marks, 'hooks', name), `#!/bin/sh\ntouch ${marks}/${name}\n`, { mode: 0o755 })
  await writeFile(join(marks, 'gpg'), `#!/bin/sh\ntouch ${marks}/signature\n`, { mode: 0o755 })
}

/** Whether nothing has run, and nothing was written elsewhere. */
async function untouched(marks: string): Promise<void> {
  expect((await readdir(marks)).sort()).toEqual(['attributes', 'elsewhere', 'gpg', 'hooks'])
  expect(await readdir(join(marks, 'elsewhere'))).toEqual([])
}

/** Each alone, since one may hinder another; and all at once. */
const tampers: [what: string, files: (marks: string) => Record<string, string>][] = [
  [
    'a program that watches files',
    (marks) => ({ config: `[core]\n\tfsmonitor = "touch ${marks}/fsmonitor; false"\n` }),
  ],
  [
    'a filter',
    (marks) => ({
      config: `[filter "evil"]\n\tsmudge = "touch ${marks}/smudge; cat"\n`,
      'info/attributes': '* filter=evil\n',
    }),
  ],
  ['other hooks', (marks) => ({ config: `[core]\n\thooksPath = ${marks}/hooks\n` })],
  ['another folder for its files', (marks) => ({ config: `[core]\n\tworktree = ${marks}/elsewhere\n` })],
  [
    'everything',
    (marks) => ({
      config: hostile(marks),
      'config.worktree': hostile(marks),
      commondir: marks,
      'info/attributes': '* filter=evil\n',
      'objects/info/alternates': `${marks}\n`,
      'hooks/post-index-change': `#!/bin/sh\ntouch ${marks}/hook\n`,
      'refs/heads/other': 'ref: ../../config',
      'refs/heads/main.lock': '',
    }),
  ],
]
for (const [what, files] of tampers)
  verifies('cli.restore.tampered', `a restore takes no setting of a repository along: ${what}`, async () => {
    const { storage, marks } = await furnished()
    await layTraps(marks)
    const file = join(storage, 'backup.tar.gz')
    expect(await parleyCommand({ storage }, ['backup', file])).toMatchObject({ code: 0 })
    const bad = join(storage, 'bad.tar.gz')
    await reseal(file, bad, (parts) => {
      for (const [name, text] of Object.entries(files(marks)))
        parts.set(`projects/commons/.git/${name}`, Buffer.from(text))
      parts.set('projects/.git/config', Buffer.from(hostile(marks)))
      parts.set('projects/commons/planted.md', Buffer.from('x'))
    })
    const other = await temporaryFolder()
    expect(await parleyCommand({ storage: other }, ['restore', bad])).toMatchObject({ code: 0, stderr: '' })
    await untouched(marks)
    const own = join(other, 'projects', 'commons', '.git')
    expect(await readFile(join(own, 'config'), 'utf8')).not.toContain(marks)
    for (const name of ['commondir', 'config.worktree', 'hooks', 'objects/info/alternates', 'refs/heads/other'])
      expect([name, existsSync(join(own, name))]).toEqual([name, false])
    expect(existsSync(join(other, 'projects', 'commons', 'planted.md'))).toBe(false)
    expect(await parleyCommand({ storage: other }, ['archive', 'verify'])).toMatchObject({ code: 0, stderr: '' })
    await untouched(marks)
  })

verifies(
  'archive.git.settings',
  'an archive whose settings were changed runs nothing, and stays where it is',
  async () => {
    const { storage, marks, repository } = await furnished()
    await layTraps(marks)
    await appendFile(join(repository, '.git', 'config'), hostile(marks))
    await writeFile(join(repository, '.git', 'info', 'attributes'), '* filter=evil\n')
    // Something for git to look at, and to put back.
    const [first = ''] = (await readdir(repository, { recursive: true })).filter((path) => path.endsWith('.md'))
    await writeFile(join(repository, first), 'changed')
    expect(await parleyCommand({ storage }, ['archive', 'verify'])).toMatchObject({ code: 1 })
    expect((await parleyCommand({ storage }, ['doctor'])).stdout).toContain('archive')
    // As a server leaves it that was killed before it had checked them out; `verify` would wait 10 s for it.
    await rm(join(repository, '.git', 'parley', 'shown'))
    const server = await serveHere({ storage, env: { ARCHIVE_ENABLED: 'true' } })
    await expect.poll(() => readFile(join(repository, first), 'utf8'), { timeout: 10_000 }).not.toBe('changed')
    await server.stop()
    await untouched(marks)
  },
)

verifies('archive.git.settings', 'objects of elsewhere are not taken for its own', async () => {
  const { storage, marks, repository } = await furnished()
  await mkdir(join(repository, '.git', 'objects', 'info'), { recursive: true })
  await writeFile(join(repository, '.git', 'objects', 'info', 'alternates'), `${marks}\n`)
  const run = await parleyCommand({ storage }, ['doctor'])
  expect(run.stdout).toMatch(/commons is damaged/)
  expect(await parleyCommand({ storage }, ['archive', 'rebuild'])).toMatchObject({ code: 0, stderr: '' })
  expect(await parleyCommand({ storage }, ['archive', 'verify'])).toMatchObject({ code: 0 })
})

verifies('cli.restore.told', 'whatever is wrong with a backup is told in a sentence', async () => {
  const { storage } = await furnished()
  const file = join(storage, 'backup.tar.gz')
  expect(await parleyCommand({ storage }, ['backup', file])).toMatchObject({ code: 0 })
  const cases: [string, Parameters<typeof reseal>[2]][] = [
    ['a row that is no JSON', (parts) => parts.set('database/agents/9.jsonl', Buffer.from('{'))],
    ['a table that is none', (parts) => parts.set('database/nothing/1.jsonl', Buffer.from('["a"]\n[1]'))],
    ['a table by a name that is none', (parts) => parts.set('database/x; y/1.jsonl', Buffer.from('["a"]\n[1]'))],
    [
      'a row twice',
      (parts) =>
        parts.set(
          'database/agents/9.jsonl',
          parts.get([...parts.keys()].find((name) => name.startsWith('database/agents/')) ?? '') ?? Buffer.alloc(0),
        ),
    ],
    [
      'a file that is a folder too',
      (parts) => {
        parts.set('projects/commons/.git/refs/heads/a', Buffer.from('a'.repeat(40)))
        parts.set('projects/commons/.git/refs/heads/a/b', Buffer.from('a'.repeat(40)))
      },
    ],
    ['a path out of the folder', (parts) => parts.set('projects/../../x', Buffer.from('x'))],
    ['counts that are none', (_parts, manifest) => Object.assign(manifest, { counts: null })],
    ['archives that are none', (_parts, manifest) => Object.assign(manifest, { archives: 7 })],
  ]
  for (const [name, change] of cases) {
    const folder = await temporaryFolder()
    await reseal(file, join(folder, 'bad.tar.gz'), change)
    const run = await parleyCommand({ storage: join(folder, 'store') }, ['restore', join(folder, 'bad.tar.gz')])
    expect({ name, ...run }).toMatchObject({
      name,
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^[^\n]*cannot be restored: [^\n]*\nNothing was changed\.[^\n]*\n$/),
    })
    expect(existsSync(join(folder, 'store', 'projects.restoring'))).toBe(false)
    expect(existsSync(join(folder, 'store', 'parley.sqlite3'))).toBe(false)
  }
})

verifies('cli.archive.file', 'a rebuild puts a file aside that stands in the place of the archive', async () => {
  const { storage } = await furnished()
  const folder = join(storage, 'projects')
  await rm(folder, { recursive: true })
  await writeFile(folder, 'mine')
  expect(await parleyCommand({ storage }, ['archive', 'verify'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/is a file.*\n`parley archive rebuild`/),
  })
  expect((await parleyCommand({ storage }, ['doctor'])).stdout).toContain('parley archive rebuild')
  expect(await parleyCommand({ storage }, ['archive', 'rebuild'])).toMatchObject({ code: 0, stderr: '' })
  expect(await parleyCommand({ storage }, ['archive', 'verify'])).toMatchObject({ code: 0 })
  const [aside = ''] = (await readdir(storage)).filter((name) => name.startsWith('projects.aside-'))
  expect(await readFile(join(storage, aside), 'utf8')).toBe('mine')
})
