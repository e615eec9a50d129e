/** Repositories written by Parley, judged by git: the files, the history, every object. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../test/support/parley.ts'
import { gitOutput } from '../../test/support/starter.ts'
import { verifies } from '../../test/support/verifies.ts'
import { Archive } from './archive.ts'
import { Repository } from './repository.ts'

const owner = { id: 'test', author: { name: 'Ann', email: 'ann@example.org' } }

const git = (cwd: string, args: readonly string[], input = '') =>
  gitOutput(args, { cwd, input, env: { PATH: process.env.PATH, HOME: cwd } })

/** The committed files with their texts. */
async function filesOf(folder: string): Promise<Record<string, string>> {
  const entries = (await git(folder, ['ls-tree', '-r', '-z', 'main'])).split('\0').filter(Boolean)
  const names = entries.map((entry) => entry.split(/[ \t]/)[2])
  let rest = Buffer.from(await git(folder, ['cat-file', '--batch'], `${names.join('\n')}\n`))
  return Object.fromEntries(
    entries.map((entry) => {
      const head = rest.indexOf('\n') + 1
      const end = head + Number(rest.toString('utf8', 0, head).split(' ')[2])
      const text = rest.toString('utf8', head, end)
      rest = rest.subarray(end + 1)
      return [entry.slice(entry.indexOf('\t') + 1), text]
    }),
  )
}

describe('A repository', () => {
  verifies(
    'mail.archive.sound',
    'has what was put into it, whatever the order of changes',
    async () => {
      const names = fc.constantFrom('a', 'b', 'a.b', 'a-b', 'aa', 'z', 'B')
      const path = fc
        .array(names, { minLength: 1, maxLength: 3 })
        .map((parts) => `${parts.map((part) => `${part}_`).join('/')}f.md`)
      const change = fc.record({ path, text: fc.option(fc.string({ maxLength: 300, unit: 'grapheme' })) })
      const commits = fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 12 })
      await fc.assert(
        fc.asyncProperty(commits, fc.integer({ min: 1, max: 5 }), async (list, kept) => {
          const folder = join(await temporaryFolder(), 'repository')
          let repository = await Repository.open(folder, owner)
          const model = new Map<string, string>()
          let count = 0
          for (const [n, changes] of list.entries()) {
            const last = new Map(changes.map(({ path, text }) => [path, text]))
            for (const [path, text] of last)
              if (text === null) model.delete(path)
              else model.set(path, text)
            const files = [...last].flatMap(([path, text]) => (text === null ? [] : [{ path, text }]))
            const removed = [...last].flatMap(([path, text]) => (text === null ? [path] : []))
            await repository.add({ subject: `commit ${n}`, at: n * 1000, files, removed })
            if (++count % kept !== 0) continue
            await repository.keep()
            repository.close()
            // Another process goes on.
            if (count % 2 === 0) repository = await Repository.open(folder, owner)
          }
          await repository.keep()
          await repository.checkOut()
          if (model.size > 0) expect(await filesOf(folder)).toEqual(Object.fromEntries(model))
          expect(await git(folder, ['status', '--porcelain'])).toBe('')
          expect(await git(folder, ['fsck', '--full', '--strict', '--no-dangling'])).toBe('')
        }),
        { numRuns: 8 },
      )
    },
    120_000,
  )

  verifies(
    'mail.archive.sound',
    'tells a large folder by its changes, through many packs',
    async () => {
      const folder = join(await temporaryFolder(), 'repository')
      const repository = await Repository.open(folder, owner)
      for (let n = 1; n <= 1500; n++) {
        await repository.add({ subject: `${n}`, at: n, files: [{ path: `messages/${n}.md`, text: `text ${n}\n` }] })
        if (n % 100 === 0) await repository.keep()
      }
      const packs = join(folder, '.git', 'objects', 'pack')
      const bytes = readdirSync(packs).reduce((sum, name) => sum + statSync(join(packs, name)).size, 0)
      // Whole, the last hundred versions of the folder alone would be 4 MB.
      expect(bytes / 1500).toBeLessThan(1000)
      expect(await git(folder, ['show', 'main:messages/777.md'])).toBe('text 777\n')
      expect(await git(folder, ['fsck', '--full', '--strict', '--no-dangling'])).toBe('')
      expect(await git(folder, ['rev-list', '--count', 'main'])).toBe('1500\n')
      repository.close()
    },
    120_000,
  )

  test('makes no commit of what changes nothing', async () => {
    const folder = join(await temporaryFolder(), 'repository')
    const repository = await Repository.open(folder, owner)
    const commit = { subject: 'once', at: 1, files: [{ path: 'a/b.md', text: 'x' }] }
    for (let n = 0; n < 3; n++) {
      await repository.add(commit)
      await repository.keep()
    }
    expect(await git(folder, ['rev-list', '--count', 'main'])).toBe('1\n')
    repository.close()
  })

  test('refuses to write over the commit of somebody else', async () => {
    const folder = join(await temporaryFolder(), 'repository')
    const [one, other] = [await Repository.open(folder, owner), await Repository.open(folder, owner)]
    await one.add({ subject: 'one', at: 1, files: [{ path: 'a.md', text: '1' }] })
    await other.add({ subject: 'other', at: 1, files: [{ path: 'b.md', text: '2' }] })
    await one.keep()
    await expect(other.keep()).rejects.toThrow('somebody else')
    expect(other.isCurrent()).toBe(false)
    expect(Object.keys(await filesOf(folder))).toEqual(['a.md'])
  })

  test.each(['ab'.repeat(20), 'ref: refs/heads/other', ''])(
    'refuses to write over a newest commit that cannot be read: %j',
    async (newest) => {
      const folder = join(await temporaryFolder(), 'repository')
      const main = join(folder, '.git', 'refs', 'heads', 'main')
      await Repository.open(folder, owner)
      writeFileSync(main, `${newest}\n`)
      const repository = await Repository.open(folder, owner)
      await repository.add({ subject: 'one', at: 1, files: [{ path: 'a.md', text: '1' }] })
      await expect(repository.keep()).rejects.toThrow('somebody else')
      expect(readFileSync(main, 'utf8')).toBe(`${newest}\n`)
    },
  )
})

test('A repository is made as git makes it, and one that is there keeps its settings', async () => {
  const storage = await temporaryFolder()
  const [own, other] = [join(storage, 'own'), join(storage, 'other')]
  mkdirSync(other)
  await git(other, ['init', '-q', '--template=', '--object-format=sha1', '--initial-branch=main'])
  await git(other, ['config', 'user.name', 'Eve'])
  for (const folder of [own, other]) (await Repository.open(folder, owner)).close()
  const there = (folder: string) => readdirSync(join(folder, '.git'), { recursive: true }).sort()
  expect(there(own)).toEqual(there(other).filter((name) => !`${name}`.startsWith('info')))
  const read = (folder: string, name: string) => readFileSync(join(folder, '.git', name), 'utf8')
  expect(read(own, 'HEAD')).toBe(read(other, 'HEAD'))
  // The last value of a setting counts.
  const settings = (folder: string) =>
    Object.fromEntries(
      read(folder, 'config')
        .split('\n')
        .map((line) => line.trim().toLowerCase().split(' = ')),
    )
  // Git of other platforms writes some more.
  expect(settings(other)).toMatchObject({ ...settings(own), name: 'eve' })
})

test('A repository with objects of SHA-256 is refused', async () => {
  const folder = await temporaryFolder()
  await git(folder, ['init', '-q', '--template=', '--object-format=sha256'])
  await expect(Repository.open(folder, owner)).rejects.toThrow('SHA-1')
})

verifies(
  'mail.archive.killed',
  'A repository that was half made is made whole, and one around it is left alone',
  async () => {
    const around = await temporaryFolder()
    await git(around, ['init', '-q', '--template=', '--initial-branch=main'])
    writeFileSync(join(around, 'own.txt'), 'committed\n')
    await git(around, ['add', 'own.txt'])
    await git(around, ['-c', 'user.name=Eve', '-c', 'user.email=eve@example.org', 'commit', '-qm', 'own'])
    writeFileSync(join(around, 'own.txt'), 'not committed yet\n')
    // As Parley leaves it when it is killed, and as `git init` does.
    for (const [name, half] of [
      ['p', { config: '' }],
      ['r', { config: '', HEAD: '' }],
      ['q', { config: '[core]\n\tbare = false\n', HEAD: 'ref: refs/heads/main\n' }],
    ] as const) {
      const folder = join(around, 'storage', name)
      mkdirSync(join(folder, '.git', 'refs'), { recursive: true })
      for (const [file, text] of Object.entries(half)) writeFileSync(join(folder, '.git', file), text)
      const archive = new Archive(join(around, 'storage'), { author: owner.author, newId: 'test' })
      await archive.add(name, [{ subject: 'one', at: 1, files: [{ path: 'a.md', text: '1' }] }])
      await archive.keep()
      await archive.show()
      archive.close()
      expect(readFileSync(join(around, 'own.txt'), 'utf8')).toBe('not committed yet\n')
      expect(await filesOf(folder)).toEqual({ 'a.md': '1' })
      expect(await git(folder, ['status', '--porcelain'])).toBe('')
      expect(await git(folder, ['fsck', '--full', '--strict', '--no-dangling'])).toBe('')
    }
  },
)

/** More than git holds in memory at once. */
const large = (n: number) => ({ size: 20 * 100_000, parts: largeParts(n) })
async function* largeParts(n: number) {
  for (let part = 0; part < 20; part++) yield Buffer.alloc(100_000, n + part)
}

test('An archive joins many small packs, and stays sound', async () => {
  const folder = await temporaryFolder()
  const packs = () =>
    readdirSync(join(folder, 'p', '.git', 'objects', 'pack')).filter((name) => name.endsWith('.pack')).length
  for (let n = 0; n < 52; n++) {
    const archive = new Archive(folder, { author: owner.author, newId: 'test' })
    const stored = n % 10 === 0 ? [{ path: `attachments/${n}.bin`, open: async () => large(n) }] : []
    await archive.add('p', [{ subject: `${n}`, at: n, files: [{ path: `m/${n}.md`, text: `${n}` }], stored }])
    await archive.keep()
    if (n === 51) {
      expect(packs()).toBe(52)
      await archive.show()
    }
    archive.close()
  }
  expect(packs()).toBeLessThan(10)
  expect(statSync(join(folder, 'p', 'attachments/50.bin')).size).toBe(2_000_000)
  expect(await git(join(folder, 'p'), ['fsck', '--full', '--strict', '--no-dangling'])).toBe('')
  expect(await git(join(folder, 'p'), ['status', '--porcelain'])).toBe('')
}, 60_000)

verifies('mail.archive.taken-over', 'Archives that are begun at the same time go by one name', async () => {
  const folder = await temporaryFolder()
  const ids = ['one', 'two', 'three'].map((newId) => new Archive(folder, { author: owner.author, newId }).owner.id)
  expect(ids).toEqual(['one', 'one', 'one'])
  expect(readdirSync(folder)).toEqual(['.archive.json'])
})
