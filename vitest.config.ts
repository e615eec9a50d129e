/** How the tests run: three files at a time, the slow ones first, with one PostgreSQL server and one browser for all of them. */
import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import { mallocSettings } from './bin/malloc.js'
import { memoryFolder } from './test/support/memory-folder.ts'
import { requirementsReporter } from './test/support/requirements-reporter.ts'
import { SlowestFirst } from './test/support/slowest-first.ts'
import { slowestReporter } from './test/support/slowest-reporter.ts'

// os.tmpdir() asks for it, here and in every process that a test starts.
process.env.TMPDIR ??= memoryFolder()
// Children other than `parley`, which sees to it itself, start in half the time with code that is compiled already.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '.runtime', 'compile-cache')
// A worker starts 1,200 processes, and each fork copies the table of its memory: 5 ms of 400 MB, 10 at the end of a run, and as much
// again in the child.
for (const [name, value] of Object.entries(mallocSettings)) process.env[name] ??= value

/** Tests that need other programs, or minutes: each has an npm script of its own, which says what to exclude no longer. */
const apart = { 'test:proxies': 'test/deploy/proxies.test.ts', 'test:failover': 'test/failover/**' }
const asked = process.env.npm_lifecycle_event

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: [
      ...configDefaults.exclude,
      ...Object.entries(apart).flatMap(([script, path]) => (script === asked ? [] : [path])),
    ],
    setupFiles: ['test/support/processor-time.ts'],
    globalSetup: ['test/support/build.ts', 'test/support/postgres-server.ts', 'test/support/browser-server.ts'],
    // The report is for .ci/run, whose last line is made from it.
    reporters: [
      'default',
      slowestReporter({ all: process.env.TEST_TIMES === 'all' }),
      requirementsReporter(),
      ...(process.env.CI ? ['json'] : []),
    ],
    outputFile: { json: 'coverage/tests.json' },
    pool: 'forks',
    // Files share their imports: a worker of its own took each 300 ms, and the server's modules as long again.
    isolate: false,
    // Node takes the types away by itself, and keeps what it has compiled. Vitest's own loader makes of each imported name a look-up in an object.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // They keep two cores busy. With more, what runs at low priority, as the archive and the converter of images, comes to nothing.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What is waited for comes at once, or on a busy machine after a while: a second said more of the machine than of Parley.
    expect: { poll: { timeout: 10_000 } },
    restoreMocks: true,
    unstubEnvs: true,
  },
})
