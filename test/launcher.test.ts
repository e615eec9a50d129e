/** The launcher in real processes: what it does on a new Node, on an old one, and where it can do nothing. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ended, type Installation, installation, pretendNode } from './support/installation.ts'
import { root } from './support/sources.ts'
import { verifies } from './support/verifies.ts'

const old = { pretend: pretendNode('20.20.2') }

/** The fetched packages, and files that fetching left behind. */
const fetched = async ({ folder }: Installation) =>
  (await readdir(join(folder, '.runtime'))).filter((name) => name !== 'compile-cache')

describe('On Node 24 or newer', () => {
  verifies('all.runtime.none-needed', 'the program runs in the same process, and npm is not called', async () => {
    const { start, npmCalls } = await installation()
    const child = start(['pid'])
    expect(await ended(child)).toMatchObject({ code: 0, stdout: `${child.pid}\n`, stderr: '' })
    expect(await npmCalls()).toEqual([])
  })

  verifies('all.build.missing', 'what is not built says how to build it', async () => {
    const { start, folder } = await installation()
    await rm(join(folder, 'dist'), { recursive: true })
    for (const script of ['bin/parley.js', 'bin/guard.js']) {
      const { code, stdout, stderr } = await ended(start([], { script }))
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toBe(
        `Parley is not built: there is no ${join(folder, 'dist', script.includes('guard') ? 'app/guard.js' : 'main.js')}. ` +
          `Run npm ci in ${folder}, then start Parley again.\n`,
      )
    }
  })

  test('folders that cannot be written cost the compile cache only', async () => {
    const { start, folder } = await installation()
    for (const name of ['.runtime', 'cache']) await writeFile(join(folder, name), 'a file where a folder should be')
    expect(await ended(start(['exit', '0']))).toMatchObject({ code: 0, stderr: '' })
  })

  test('node24 runs a script, or the program of a package, as the main module', async () => {
    const { start, folder } = await installation()
    const program = 'console.log(import.meta.main, process.argv.slice(2).join())'
    await mkdir(join(folder, 'node_modules', 'tool'), { recursive: true })
    await writeFile(join(folder, 'node_modules', 'tool', 'package.json'), '{ "bin": { "tool": "./cli.mjs" } }')
    await writeFile(join(folder, 'node_modules', 'tool', 'cli.mjs'), program)
    await cp(join(folder, 'node_modules', 'tool', 'cli.mjs'), join(folder, 'script.mjs'))
    for (const name of ['tool', join(folder, 'script.mjs')])
      for (const node of [{}, old]) {
        const run = await ended(start([name, 'a', '--b'], { ...node, script: 'bin/node24.js' }))
        expect(run).toMatchObject({ code: 0, stdout: 'true a,--b\n' })
      }
  })
})

describe.runIf(process.platform === 'linux')('A server', () => {
  const says = `console.log(process.pid, process.env.MALLOC_ARENA_MAX, process.env.MALLOC_MMAP_THRESHOLD_, process.argv.slice(2).join())
    process.stdin.pipe(process.stdout)`

  verifies(
    'serve.memory.arenas',
    'has two arenas of malloc and gives large pieces back, in the process that was started',
    async () => {
      const { start, folder } = await installation()
      await writeFile(join(folder, 'dist', 'main.js'), says)
      for (const node of [{}, old])
        for (const [script, args, command] of [
          ['bin/parley.js', ['serve', '--port', '0'], 'serve,--port,0'],
          ['bin/start.js', ['--port', '0'], 'serve,--port,0'],
        ] as const) {
          const child = start(args, { ...node, script })
          child.stdin.end('still mine')
          const { code, stdout } = await ended(child)
          expect([code, stdout]).toEqual([
            0,
            expect.stringMatching(new RegExp(`^\\d+ 2 131072 ${command}\nstill mine$`)),
          ])
          if (node !== old) expect(stdout).toMatch(new RegExp(`^${child.pid} `))
        }
    },
  )

  verifies(
    'serve.memory.arenas',
    'keeps the number that a person has chosen, and other commands start once',
    async () => {
      const { start, folder } = await installation()
      await writeFile(join(folder, 'dist', 'main.js'), says)
      const chosen = { pretend: `process.env.MALLOC_ARENA_MAX ??= '7'` }
      const run = async (args: string[], options = {}) => {
        const child = start(args, options)
        child.stdin.end()
        return (await ended(child)).stdout
      }
      expect(await run(['serve'], chosen)).toMatch(/^\d+ 7 undefined serve\n$/)
      expect(await run(['bus'])).toMatch(/^\d+ undefined undefined bus\n$/)
    },
  )
})

verifies('all.start.signals', 'npm start ends with the shell that npm has started for it', async () => {
  const { folder } = await installation()
  const main = 'console.log(process.argv.slice(2).join()); setInterval(() => {}, 1000)'
  await writeFile(join(folder, 'dist', 'main.js'), main)
  const started = spawn('sh', ['-c', `"${process.execPath}" bin/start.js & wait`], { cwd: folder })
  expect(String(await once(started.stdout, 'data'))).toBe('serve\n')
  started.kill('SIGKILL')
  // The pipe is closed once the last process that holds it is gone.
  await ended(started)
})

describe('npm ci', () => {
  /** As npm leaves it: with the packages that build, and a build that does this. */
  async function withTools(parley: Installation, build: string): Promise<void> {
    await mkdir(join(parley.folder, 'node_modules', 'rolldown'), { recursive: true })
    await mkdir(join(parley.folder, 'scripts'))
    await writeFile(join(parley.folder, 'scripts', 'build.ts'), `export const build = async () => { ${build} }`)
  }
  const prepare = ({ start }: Installation, node = {}) => ended(start([], { ...node, script: 'bin/prepare.js' }))

  verifies('all.build.loud', 'builds, and fails with the build', async () => {
    for (const node of [{}, old]) {
      const good = await installation()
      await withTools(good, "console.log('built' as string)")
      expect(await prepare(good, node)).toMatchObject({ code: 0, stdout: 'built\n' })
      const broken = await installation()
      await withTools(broken, "throw new Error('main.ts has a fault')")
      const { code, stderr } = await prepare(broken, node)
      expect(code).toBe(1)
      expect(stderr).toContain('main.ts has a fault')
    }
  })

  verifies('all.build.loud', 'needs no tools where the build came along, and says so where it did not', async () => {
    const parley = await installation()
    expect(await prepare(parley)).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(await prepare(parley, old)).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(await parley.npmCalls()).toEqual([])
    await rm(join(parley.folder, 'dist'), { recursive: true })
    const { code, stderr } = await prepare(parley)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^Parley is not built, .*\nRun npm ci --include=dev, /)
  })
})

verifies('all.build.dev', 'npm run dev serves the source, restarts when it changes, and builds it again', async () => {
  const { start, folder } = await installation()
  await mkdir(join(folder, 'scripts'))
  await mkdir(join(folder, 'src'))
  await cp(join(root, 'scripts', 'dev.ts'), join(folder, 'scripts', 'dev.ts'))
  await writeFile(join(folder, 'scripts', 'build.ts'), "console.log('built')")
  const serving = (version: string) =>
    writeFile(
      join(folder, 'src', 'main.ts'),
      `console.log('${version}', process.argv.slice(2).join()); setInterval(() => {}, 1000)`,
    )
  await serving('one')
  const child = start([join(folder, 'scripts', 'dev.ts'), '--port', '0'], { script: 'bin/node24.js' })
  onTestFinished(() => void child.kill())
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const lines = () => said.split('\n').filter(Boolean).sort()
  await expect.poll(lines).toEqual(['built', 'one serve,--port,0'])
  await serving('two')
  await expect.poll(lines).toEqual(['built', 'built', 'one serve,--port,0', 'two serve,--port,0'])
  child.kill()
  expect(await ended(child)).toMatchObject({ signal: 'SIGTERM' })
})

describe('On an older Node', () => {
  verifies('all.runtime.shared', 'processes that start at once share one download, kept in the package', async () => {
    const parley = await installation()
    const runs = await Promise.all(['1', '2', '3', '4'].map((code) => ended(parley.start(['exit', code], old))))
    expect(runs.map(({ code }) => code)).toEqual([1, 2, 3, 4])
    expect(runs.map(({ stdout }) => stdout).join('')).toBe('')
    expect(runs.map(({ stderr }) => stderr).join('')).toMatch(/^Parley needs Node 24 or newer: fetching \S+ \S+ .*\n$/)
    expect(await parley.npmCalls()).toHaveLength(1)
    expect(await fetched(parley)).toEqual([expect.stringMatching(/^node-.*\d$/)])

    expect(await ended(parley.start(['exit', '0'], old))).toMatchObject({ code: 0, stderr: '' })
    expect(await parley.npmCalls()).toHaveLength(1)
  })

  verifies('all.runtime.cache', 'a package that cannot be written leaves it to the cache of the user', async () => {
    const parley = await installation()
    await writeFile(join(parley.folder, '.runtime'), 'a file where a folder should be')
    expect(await ended(parley.start(['exit', '3'], old))).toMatchObject({ code: 3 })
    expect(await ended(parley.start(['exit', '4'], old))).toMatchObject({ code: 4, stderr: '' })
    expect(await parley.npmCalls()).toHaveLength(1)
    const kept = await readdir(join(parley.folder, 'cache', 'parley'))
    expect(kept.filter((name) => name !== 'compile-cache')).toEqual([expect.stringMatching(/^node-.*\d$/)])
  })

  test('what a killed download left behind is cleared away', async () => {
    const parley = await installation()
    await ended(parley.start(['exit', '0'], old))
    const [name = ''] = await fetched(parley)
    const home = join(parley.folder, '.runtime', name)
    await rm(home, { recursive: true })
    await mkdir(join(`${home}.partial`, 'node_modules'), { recursive: true })
    await utimes(`${home}.partial`, 0, 0)
    expect(await ended(parley.start(['exit', '5'], old))).toMatchObject({ code: 5 })
    expect(await fetched(parley)).toEqual([name])
  })

  test('a signal ends a download and leaves nothing behind', async () => {
    const parley = await installation({ npm: '#!/bin/sh\nexec /bin/sleep 60\n' })
    const child = parley.start(['exit', '0'], old)
    await once(child.stderr, 'data')
    child.kill('SIGTERM')
    expect(await ended(child)).toMatchObject({ code: 143 })
    expect(await fetched(parley)).toEqual([])
  })

  verifies('all.runtime.hand-over', 'stdin, stdout and the exit code are passed through', async () => {
    const { start } = await installation()
    const child = start(['echo'], old)
    child.stdin.end('{"jsonrpc":"2.0"}\n')
    expect(await ended(child)).toMatchObject({ code: 0, stdout: '{"jsonrpc":"2.0"}\n' })
    expect(await ended(start(['exit', '7'], old))).toMatchObject({ code: 7, signal: null })
  })

  verifies(
    'all.runtime.hand-over',
    'signals are passed on, and an end by a signal is an end by that signal',
    async () => {
      const { start } = await installation()
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
        const child = start(['catch', signal], old)
        await once(child.stdout, 'data')
        child.kill(signal)
        expect(await ended(child)).toMatchObject({ code: 42, signal: null })
      }
      expect(await ended(start(['die', 'SIGKILL'], old))).toMatchObject({ code: null, signal: 'SIGKILL' })
    },
  )

  verifies('all.runtime.hand-over', 'a launcher that is killed outright takes the program with it', async () => {
    const { start } = await installation()
    const child = start(['catch', 'SIGTERM'], old)
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    // Resolves when the last process that holds the pipes is gone.
    expect(await ended(child)).toMatchObject({ signal: 'SIGKILL' })
  })
})

describe('Where no Node can be fetched', () => {
  const failing = (error: string) => `#!/bin/sh\necho "${error}" >&2\nexit 1\n`
  const fake = (property: string, value: string) =>
    `Object.defineProperty(process, '${property}', { value: '${value}' });`
  const onLinux = `${fake('platform', 'linux')}${fake('arch', 'x64')}`

  test.each([
    { why: 'the registry is out of reach', npm: failing('npm error code ECONNREFUSED'), says: 'ECONNREFUSED' },
    {
      why: 'npm cannot be started',
      npm: '#!/no/such/shell\n',
      pretend: "process.execPath = '/nowhere/node';",
      says: 'npm, which would fetch a newer one, cannot be started',
    },
    { why: 'what was fetched does not run', npm: '#!/bin/sh\nexit 0\n', says: 'does not run on this system' },
    {
      why: 'there is none for the platform',
      pretend: fake('arch', 'mips'),
      says: /no newer one to fetch for \w+-mips/,
    },
    {
      why: 'Linux has no glibc',
      pretend: `${onLinux}process.report.getReport = () => ({ header: {} })`,
      says: 'without glibc',
    },
    { why: 'this Node is too old even for that', pretend: pretendNode('18.20.8'), says: 'This is Node 18.20.8' },
  ])('$why: one message says what to install', async ({ npm, pretend = '', says }) => {
    const parley = await installation(npm === undefined ? {} : { npm })
    await expectExplained(parley, `${old.pretend}${pretend}`, says)
  })

  verifies('all.runtime.explained', 'no folder can be written: one message says what to install', async () => {
    const parley = await installation()
    for (const name of ['.runtime', 'cache'])
      await writeFile(join(parley.folder, name), 'a file where a folder should be')
    await expectExplained(parley, old.pretend, 'cannot be written (ENOTDIR)')
  })

  async function expectExplained({ start }: Installation, pretend: string, says: string | RegExp): Promise<void> {
    const { code, stdout, stderr } = await ended(start(['pid'], { pretend }))
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(says)
    expect(stderr).toMatch(/Install Node 24 or newer .*nodejs\.org.*\n$/)
    expect(stderr).not.toMatch(/^\s+at /m)
  }
})
