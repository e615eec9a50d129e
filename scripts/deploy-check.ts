/** `npm run deploy:check`: the compose file, the Kubernetes manifest and the workflows against their own schemas; skipped where Python is not there, but not under CI. */
import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { install, Skipped, type Wanted } from '../bench/peers/python.ts'
import { root } from '../bin/runtime.js'

interface Check {
  /** Has the schemas inside. */
  readonly by: Wanted
  readonly command: readonly string[]
  readonly files: string
}

const schemas = { name: 'check-jsonschema', version: '0.39.0', module: 'check_jsonschema' }
const checks: readonly Check[] = [
  {
    by: schemas,
    command: ['check-jsonschema', '--builtin-schema', 'vendor.compose-spec'],
    files: 'deploy/compose.yaml',
  },
  {
    by: schemas,
    command: ['check-jsonschema', '--builtin-schema', 'vendor.github-workflows'],
    files: '.github/workflows/*.yml',
  },
  {
    by: { name: 'kubernetes-validate', version: '1.37.0', module: 'kubernetes_validate' },
    command: ['kubernetes-validate', '--strict'],
    files: 'deploy/kubernetes/*.yaml',
  },
]

for (const { by, command, files } of checks) {
  const [program = '', ...args] = command
  try {
    const { bin, env } = await install(by, (text) => console.log(text))
    console.log(`\n${files}`)
    execFileSync(join(bin, program), [...args, ...globSync(files, { cwd: root })], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: 'inherit',
    })
  } catch (error) {
    // The program has printed its findings.
    if (error instanceof Skipped) console.log(`skipped: ${files}: ${error.message}`)
    if (!(error instanceof Skipped) || process.env.CI) process.exitCode = 1
  }
}
