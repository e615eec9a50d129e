/** How the tests run: three files at a time, with one PostgreSQL server for all of them. */
import { defineConfig } from 'vitest/config'
import { memoryFolder } from './test/support/memory-folder.ts'
import { requirementsReporter } from './test/support/requirements-reporter.ts'

// os.tmpdir() asks for it, here and in every process that a test starts.
process.env.TMPDIR ??= memoryFolder()

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/support/postgres-server.ts'],
    // The report is for .ci/run, whose last line is made from it.
    reporters: ['default', requirementsReporter(), ...(process.env.CI ? ['json'] : [])],
    outputFile: { json: 'coverage/tests.json' },
    pool: 'forks',
    isolate: false,
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    restoreMocks: true,
    unstubEnvs: true,
  },
})
