/** Commits in real repositories: which ones the guard stops, and what it says. */
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { guardedRepository } from '../support/guard.ts'
import { shareServer } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()
const open = () => guardedRepository(parley())
const stopped = { code: 1, said: expect.stringContaining('this commit has files that other agents have reserved') }
const made = { code: 0, said: '' }

verifies('mail.guard.stops', 'a file that another agent holds is not committed, until it is released', async () => {
  const { write, commit, reserve, release, git } = await open()
  await reserve('GreenCastle', ['src/api.ts'])
  await write({ 'src/api.ts': '1', 'src/other.ts': '1' })
  expect(await commit('BlueLake')).toEqual(stopped)
  expect(await git('log', '--oneline')).not.toContain('a change')
  await release('GreenCastle')
  expect(await commit('BlueLake')).toEqual(made)
})

verifies('mail.guard.stops', 'an agent commits what it holds itself, however its name is written', async () => {
  const { write, commit, reserve, folder } = await open()
  await reserve('GreenCastle', ['src/**'])
  for (const name of ['GreenCastle', 'greencastle', ' GreenCastle ', `GreenCastle@${folder}`]) {
    await write({ 'src/api.ts': name })
    expect([name, await commit(name)]).toEqual([name, made])
  }
  await write({ 'src/api.ts': 'elsewhere' })
  expect(await commit('GreenCastle@/srv/elsewhere')).toEqual(stopped)
})

verifies('mail.guard.older-first', 'of two who hold a file, the one who held it first commits it', async () => {
  const { write, commit, reserve } = await open()
  await reserve('GreenCastle', ['src/api.ts'])
  await reserve('BlueLake', ['src/**', 'docs/**'])
  await reserve('GreenCastle', ['docs/**'])
  await write({ 'src/api.ts': '1' })
  expect(await commit('BlueLake')).toEqual(stopped)
  expect(await commit('GreenCastle')).toEqual(made)
  // Its lease on another file is no older one of this file.
  await write({ 'src/api.ts': '2', 'docs/a.md': '1' })
  const { code, said } = await commit('GreenCastle')
  expect([code, said.includes('    docs/a.md\n'), said.includes('    src/api.ts\n')]).toEqual([1, true, false])
})

verifies('mail.guard.stops', 'shared and expired leases stop nobody', async () => {
  const { write, commit, reserve } = await open()
  await reserve('GreenCastle', ['src/shared.ts'], { exclusive: false })
  await reserve('GreenCastle', ['src/soon.ts'], { ttl_seconds: 1 })
  await write({ 'src/shared.ts': '1' })
  expect(await commit('BlueLake')).toEqual(made)
  await write({ 'src/soon.ts': '1' })
  await expect.poll(async () => (await commit('BlueLake')).code, { timeout: 15_000 }).toBe(0)
})

verifies(['mail.guard.stops', 'mail.lease.overlap'], 'patterns count as they do among leases', async () => {
  const { write, commit, reserve } = await open()
  await reserve('GreenCastle', ['src/*.ts', 'docs', '**/{a,b}.json', 'lib/v[12]/**'])
  const held = ['src/x.ts', 'docs/deep/x.md', 'any/where/b.json', 'lib/v2/x']
  const free = ['src/deep/x.ts', 'docs2/x.md', 'any/where/c.json', 'lib/v3/x']
  await write(Object.fromEntries([...held, ...free].map((path) => [path, '1'])))
  const { code, said } = await commit('BlueLake')
  const named = [...held, ...free].filter((path) => said.includes(`    ${path}\n`))
  expect([code, named]).toEqual([1, held])
})

verifies('mail.guard.stops', 'a renamed file counts under both names, a deleted one under its own', async () => {
  const { folder, write, commit, reserve, release, git } = await open()
  await write({ 'old/a.ts': 'the same text\n'.repeat(20), 'b.ts': 'b' })
  expect(await commit('BlueLake')).toEqual(made)
  const moved = () => rename(join(folder, 'old/a.ts'), join(folder, 'new.ts'))
  for (const held of ['old/a.ts', 'new.ts']) {
    await reserve('GreenCastle', [held])
    await moved()
    expect([held, (await commit('BlueLake')).code]).toEqual([held, 1])
    await git('reset', '-q', '--hard')
    await release('GreenCastle')
  }
  await reserve('GreenCastle', ['b.ts'])
  await rm(join(folder, 'b.ts'))
  expect(await commit('BlueLake')).toEqual(stopped)
})

verifies('mail.guard.stops', 'a commit of some files only is judged by those', async () => {
  const { write, reserve, git } = await open()
  await write({ 'mine.ts': '1', 'theirs.ts': '1' })
  await git('add', '-A')
  await reserve('GreenCastle', ['theirs.ts'])
  expect(await git('commit', '-q', '-m', 'mine', '--', 'mine.ts')).toBe('')
  await expect(git('commit', '-q', '-m', 'theirs', '--', 'theirs.ts')).rejects.toThrow(/reserved/)
  expect(await git('log', '--format=%s', '-1')).toBe('mine')
})

verifies('mail.guard.tells', 'who holds what, until when, why, and how to go on', async () => {
  const { write, commit, reserve } = await open()
  await reserve('GreenCastle', ['src/**'], { reason: 'new\u001b[2J login', ttl_seconds: 7200 })
  await write(Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`src/f${n}.ts`, '1'])))
  const { said } = await commit('BlueLake')
  expect(said).toMatch(/src\/\*\* {2}held by GreenCastle until [\d: -]+ \(in 2 h\): new␛\[2J login/)
  expect(said).toMatch(/src\/f0\.ts\n[\s\S]*and 3 more files/)
  expect(said).toContain('ask GreenCastle to release the files')
  expect(said).toContain('git restore --staged')
  expect(said).toContain('You commit as BlueLake')
  expect(said).not.toContain('PARLEY_GUARD')
})

verifies('mail.guard.person', 'a person is stopped too, is warned only, or skips the guard', async () => {
  const { write, commit, reserve } = await open()
  await reserve('GreenCastle', ['**'])
  await write({ a: '1' })
  const asPerson = await commit()
  expect(asPerson).toEqual(stopped)
  expect(asPerson.said).toMatch(/AGENT_NAME is not set[\s\S]*PARLEY_GUARD=warn/)
  expect(await commit(undefined, { PARLEY_GUARD: 'yes' })).toMatchObject({
    code: 1,
    said: expect.stringContaining('PARLEY_GUARD is neither'),
  })
  expect(await commit(undefined, { PARLEY_GUARD: 'warn' })).toMatchObject({
    code: 0,
    said: expect.stringMatching(/warning: this commit has files[\s\S]*held by GreenCastle[\s\S]*made anyway/),
  })
  await write({ a: '2' })
  expect(await commit(undefined, { PARLEY_GUARD: 'off' })).toEqual({
    code: 0,
    said: 'parley guard: skipped, because PARLEY_GUARD is off.\n',
  })
})

verifies('mail.guard.names', 'odd names are checked as any other', async () => {
  const { write, commit, reserve } = await open()
  await reserve('GreenCastle', ['held/*', 'more/**', 'größe/*.md'])
  // biome-ignore format: a table, a name and how it is shown
  const names = [
    ['held/a b', 'held/a b'], ['held/ lead', 'held/ lead'], [`held/it's "quoted"`, `held/it's "quoted"`],
    ['held/line\nbreak', '"held/line\\nbreak"'], ['held/tab\there', '"held/tab\\there"'],
    ['more/日本語/😀', 'more/日本語/😀'], ['more/-rf', 'more/-rf'], ['more/back\\slash', 'more/back\\slash'],
    ['größe/x.md', 'größe/x.md'],
  ] as const
  await write(Object.fromEntries(names.map(([name]) => [name, '1'])))
  await write(Object.fromEntries(names.map(([name]) => [`free/${name}`, '1'])))
  const { code, said } = await commit('BlueLake')
  expect([code, said]).toEqual([1, expect.not.stringContaining('free/')])
  for (const [, shown] of names) expect(said).toContain(`    ${shown}\n`)
})

verifies(
  'mail.guard.names',
  'one among ten thousand is found',
  async () => {
    const { stage, commitStaged, reserve, git } = await open()
    await reserve('GreenCastle', ['src/d7/f7777.txt', '**/never/**'])
    await stage(Array.from({ length: 10_000 }, (_, n) => `src/d${n % 10}/f${n}.txt`))
    const { code, said } = await commitStaged('BlueLake')
    expect([code, said]).toEqual([1, expect.stringContaining('src/d7/f7777.txt\n')])
    await git('rm', '-q', '--cached', 'src/d7/f7777.txt')
    await git('commit', '-q', '-m', 'the others')
  },
  60_000,
)
