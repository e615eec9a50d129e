/** Files of any bytes, written part by part and read back by git. */
import { randomBytes } from 'node:crypto'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/support/parley.ts'
import { initRepository } from '../../test/support/repository.ts'
import { gitOutput } from '../../test/support/starter.ts'
import { verifies } from '../../test/support/verifies.ts'
import { shaOfBytes, shaOfFile, writeBlob } from './blobs.ts'
import { Repository } from './repository.ts'

async function* inParts(content: Buffer, size: number) {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size)
}

const bytesOf = (content: Buffer, size = content.length) => ({ size, parts: inParts(content, 1000) })

const git = (cwd: string, args: readonly string[]) =>
  gitOutput(args, { cwd, env: { PATH: process.env.PATH, HOME: cwd } })

async function newRepository(): Promise<string> {
  const folder = await temporaryFolder()
  await initRepository(folder)
  return folder
}

test.each([
  ['nothing', Buffer.alloc(0)],
  ['one byte', Buffer.from([0])],
  ['a part', randomBytes(1000)],
  ['a part and a byte', randomBytes(1001)],
  ['much that does not shrink', randomBytes(300_000)],
  ['much that does', Buffer.alloc(300_000, 'Parley\n')],
])('git reads %s as it was written', async (_, content) => {
  const folder = await newRepository()
  const sha = await writeBlob(join(folder, '.git'), bytesOf(content))
  writeFileSync(join(folder, 'copy'), content)
  const name = (await git(folder, ['hash-object', '--no-filters', 'copy'])).trim()
  expect(sha?.toString('hex')).toBe(name)
  expect(shaOfFile(join(folder, 'copy'))).toEqual(sha)
  expect(await shaOfBytes(bytesOf(content))).toEqual(sha)
  expect(await git(folder, ['cat-file', 'blob', name])).toBe(content.toString())
  expect(await git(folder, ['fsck', '--full', '--strict', '--no-dangling'])).toBe('')
})

test('Bytes that are not whole, or cannot be read, leave nothing behind', async () => {
  const folder = await newRepository()
  const objects = join(folder, '.git', 'objects')
  const before = readdirSync(objects)
  expect(await writeBlob(join(folder, '.git'), bytesOf(randomBytes(5000), 5001))).toBeUndefined()
  async function* broken() {
    yield randomBytes(10)
    throw new Error('gone')
  }
  await expect(writeBlob(join(folder, '.git'), { size: 20, parts: broken() })).rejects.toThrow('gone')
  expect(readdirSync(objects)).toEqual(before)
})

verifies('mail.archive.files', 'A repository reads a file once, and goes on without one that is lost', async () => {
  const folder = await temporaryFolder()
  const repository = await Repository.open(join(folder, 'p'), { id: 'x', author: { name: 'Ann', email: 'ann@x.org' } })
  const content = randomBytes(200_000)
  let opened = 0
  const stored = [
    {
      path: 'attachments/ab/abc.bin',
      open: async () => {
        opened++
        return bytesOf(content)
      },
    },
    { path: 'attachments/cd/cde.bin', open: async () => undefined },
    { path: 'attachments/ef/efg.bin', open: async () => bytesOf(content, 1) },
  ]
  for (const n of [1, 2]) {
    await repository.add({ subject: `${n}`, at: n, files: [{ path: `m/${n}.md`, text: `${n}` }], stored })
    await repository.keep()
  }
  await repository.checkOut()
  expect(opened).toBe(1)
  expect((await git(join(folder, 'p'), ['ls-files'])).trim().split('\n')).toEqual([
    'attachments/ab/abc.bin',
    'm/1.md',
    'm/2.md',
  ])
  expect(shaOfFile(join(folder, 'p', 'attachments/ab/abc.bin'))).toEqual(await shaOfBytes(bytesOf(content)))
  expect(await git(join(folder, 'p'), ['fsck', '--full', '--strict', '--no-dangling'])).toBe('')
  expect(await git(join(folder, 'p'), ['status', '--porcelain'])).toBe('')
})
