/** deploy/capabilities/agent_capabilities.json says what the server says. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { plainMail } from '../support/mail.ts'
import { serveHere } from '../support/parley.ts'
import { root } from '../support/sources.ts'
import { verifies } from '../support/verifies.ts'

interface Profile {
  readonly name: string
  readonly path: string
  readonly capabilities: readonly string[]
}

verifies('deploy.capabilities.true', 'each profile has the capabilities that its URL gives', async () => {
  const file = join(root, 'deploy', 'capabilities', 'agent_capabilities.json')
  const { profiles } = JSON.parse(readFileSync(file, 'utf8')) as { profiles: Profile[] }
  expect(profiles.map(({ name }) => name)).toEqual(['all', 'core', 'macros'])
  const server = await serveHere()
  await plainMail(server)
    .call('register_agent', { project_key: '/srv/shop', name: 'BlueLake' })
    .catch(() => {})
  for (const { path, capabilities } of profiles)
    expect(await plainMail(server, path).read('resource://tooling/capabilities/BlueLake')).toMatchObject({
      capabilities,
    })
})
