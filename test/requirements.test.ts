/** The mechanics of promises: a typo throws, and a promise that nobody keeps fails the run. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { requirements } from './requirements.ts'
import { verifies } from './support/verifies.ts'

const root = join(import.meta.dirname, '..')
const urlOf = (file: string) => pathToFileURL(join(root, file)).href

test('ids are unique and spelled alike, and each promise is a sentence', () => {
  expect(new Set(requirements.map(({ id }) => id)).size).toBe(requirements.length)
  for (const { id, says } of requirements) {
    expect(id).toMatch(/^[a-z]+(\.[a-z]+(-[a-z]+)*){2}$/)
    expect(says).toMatch(/^[^|\n]{10,110}\.$/)
  }
})

test('an unknown id throws, and the compiler sees it too', () => {
  // @ts-expect-error there is no such promise
  expect(() => verifies('mailbox.pop.lifo', 'never runs', () => {})).toThrow('has no mailbox.pop.lifo')
  // @ts-expect-error nor is there among several
  expect(() => verifies(['mailbox.pop.fifo', 'no.such.id'], 'never runs', () => {})).toThrow('has no no.such.id')
})

describe.concurrent('A suite that promises two things', () => {
  const first = "verifies('mailbox.pop.fifo', 'first', () => {})"
  const second = "verifies('mailbox.pop.empty', 'second', () => {})"

  test('passes when both are verified, though one was skipped elsewhere', async () => {
    const run = await suite({
      'a.test.ts': `${first}; describe.skip('other engine', () => { ${second} })`,
      'b.test.ts': second,
    })
    expect(run).toMatchObject({ code: 0 })
  })

  test('fails when one is verified by a skipped test only, and says which', async () => {
    const run = await suite({ 'a.test.ts': first, 'b.test.ts': `describe.skip('later', () => { ${second} })` })
    expect(run.code).toBe(1)
    expect(run.output).toContain('No passing test verifies: mailbox.pop.empty (')
  })

  test('is not judged when only a part of it ran', async () => {
    const files = { 'a.test.ts': first, 'b.test.ts': 'test("nothing", () => {})' }
    expect(await suite(files, ['a.test.ts'])).toMatchObject({ code: 0 })
    expect(await suite(files, ['-t', 'first'])).toMatchObject({ code: 0 })
  })
})

/** Runs vitest on files made up for it, with the real reporter. */
async function suite(files: Record<string, string>, args: string[] = []): Promise<{ code: number; output: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-suite-'))
  try {
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    await writeFile(
      join(folder, 'vitest.config.mjs'),
      `import { requirementsReporter } from '${urlOf('test/support/requirements-reporter.ts')}'
      const promised = [{ id: 'mailbox.pop.fifo' }, { id: 'mailbox.pop.empty' }]
      const native = { viteModuleRunner: false, nodeLoader: false }
      const reporters = ['default', requirementsReporter(promised)]
      export default { test: { pool: 'threads', maxWorkers: 1, isolate: false, experimental: native, reporters } }`,
    )
    const imports = `import { describe, test } from 'vitest'; import { verifies } from '${join(root, 'test/support/verifies.ts')}'\n`
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), imports + text)
    return await runVitest(['run', '--root', folder, ...args])
  } finally {
    await rm(folder, { recursive: true })
  }
}

function runVitest(args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...args], (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr })
    })
  })
}
