/** Prints what vitest's JSON report says in one line: `N passed, N failed`. Without a report it prints nothing. */
import { existsSync, readFileSync } from 'node:fs'

const [report = ''] = process.argv.slice(2)
if (existsSync(report)) {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
    readFileSync(report, 'utf8'),
  )
  // A file that cannot even be loaded has no test that failed, but it did fail.
  const broken = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  )
  const skipped = numPendingTests + numTodoTests
  const line = `${numPassedTests} passed, ${numFailedTests + broken.length} failed`
  process.stdout.write(skipped > 0 ? `${line}, ${skipped} skipped\n` : `${line}\n`)
}
