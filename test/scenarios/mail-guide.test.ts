/** The example clients of the integration guide, against a running server. */
import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect } from 'vitest'
import { bootstrap } from '../../examples/client_bootstrap.ts'
import { plainMail } from '../support/mail.ts'
import { shareServer } from '../support/parley.ts'
import { root } from '../support/sources.ts'
import { verifies } from '../support/verifies.ts'

const server = shareServer()

async function worked(): Promise<void> {
  const mail = plainMail(server())
  await mail.call('macro_start_session', { human_key: '/srv/shop', agent_name: 'BlueLake' })
  await mail
    .call('send_message', { project_key: '/srv/shop', sender_name: 'BlueLake', to: [], subject: 'x', body_md: 'x' })
    .catch(() => {})
}

verifies('mail.guide.runs', 'in TypeScript: one cluster for a large model, macros for a small one', async () => {
  await worked()
  const { url } = server()
  const wish = { url, cluster: 'messaging', agent: 'BlueLake', project: '/srv/shop' }
  const large = await bootstrap(wish)
  expect(large.tools).toContain('send_message')
  expect(large.tools).not.toContain('file_reservation_paths')
  expect(large.metrics).toContainEqual({ name: 'send_message', cluster: 'messaging', calls: 1, errors: 1 })
  expect(large.recent).toBeGreaterThan(0)
  const small = await bootstrap({ ...wish, small: true })
  expect(small.tools).toContain('macro_start_session')
  expect(small.tools.every((name) => name.startsWith('macro_'))).toBe(true)
})

const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) process.stderr.write('skipped: python3 is not on this machine\n')

describe.skipIf(!hasPython)('The example in Python', () => {
  verifies('mail.guide.runs', 'says the same as that in TypeScript', async () => {
    const { url } = server()
    const script = join(root, 'examples', 'client_bootstrap.py')
    const { stdout } = await promisify(execFile)('python3', [script, 'messaging', '--small'], {
      env: { PATH: process.env.PATH, PARLEY_URL: url },
    })
    const { clusters, tools } = await bootstrap({ url, cluster: 'messaging', small: true })
    expect(JSON.parse(stdout)).toMatchObject({ clusters, tools })
  })
})
