/** `parley call`, `parley resource` and the doctor's looks at a running server and at a guard. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { parleyCommand } from '../support/cli.ts'
import { repositoryAt } from '../support/guard.ts'
import { plainMail } from '../support/mail.ts'
import { serveHere, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

async function served(env: Record<string, string> = {}) {
  const server = await serveHere({ env })
  const run = (...args: string[]) =>
    parleyCommand(server, args, { env: { ...env, HTTP_PORT: String(server.port) }, input: '{"wait_seconds": 0}' })
  return { server, run }
}

verifies('cli.call.tool', 'a tool is called by name and its result is JSON; its error is told', async () => {
  const { run } = await served()
  const session = await run('call', 'macro_start_session', '{"human_key": "/srv/backend", "agent_name": "BlueLake"}')
  expect(session).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(session.stdout)).toMatchObject({ agent: { name: 'BlueLake' } })
  const sent = await run('call', 'send_to_agent', '{"name": "bob", "msg": "hi"}', '--door', 'mailbox', '--agent', 'ann')
  expect(sent).toMatchObject({ code: 0 })
  const mail = await run('call', 'check_mail', '-', '--door', 'mailbox', '--agent', 'bob')
  expect(JSON.parse(mail.stdout)).toMatchObject({ result: { from: 'ann', content: 'hi' } })

  expect(await run('call', 'fetch_inbox', '{"project_key": "/srv/none", "agent_name": "X"}')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('/srv/none'),
  })
  expect(await run('call', 'no_such_tool')).toMatchObject({ code: 1, stderr: expect.stringContaining('no_such_tool') })
  expect(await run('call', 'fetch_inbox', '[1]')).toMatchObject({ code: 2, stdout: '' })
})

verifies('cli.call.resource', 'a resource is read by its URI', async () => {
  const { run } = await served()
  const { stdout } = await run('resource', 'resource://tooling/directory')
  expect(JSON.parse(stdout).clusters.length).toBeGreaterThan(3)
  expect(await run('resource', 'resource://nothing')).toMatchObject({ code: 1, stdout: '' })
})

verifies('cli.call.token', 'the operator’s token goes along, and only to this machine', async () => {
  const token = 'a-token-of-the-operator-with-more-than-32-bytes'
  const env = { HTTP_BEARER_TOKEN: token, HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: 'false' }
  const { run, server } = await served(env)
  expect(await run('resource', 'resource://projects')).toMatchObject({ code: 0 })
  const without = { HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: 'false', HTTP_PORT: String(server.port) }
  const refused = await parleyCommand({ storage: await temporaryFolder() }, ['resource', 'resource://projects'], {
    env: without,
  })
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('Credentials are needed') })
})

verifies('cli.doctor.endpoints', 'each door answers; one that is away is a fault', async () => {
  const { run, server } = await served()
  const { findings } = JSON.parse((await run('doctor', '--endpoints', '--json')).stdout)
  const doors = findings.filter(({ check }: { check: string }) => check === 'endpoints')
  expect(doors.map(({ status }: { status: string }) => status)).toEqual(doors.map(() => 'ok'))
  expect(JSON.stringify(doors)).toMatch(/the mail door: \d\d tools.*mailbox door: \d.*hub door: \d.*bus door: \d/)
  await server.stop()
  const { findings: away } = JSON.parse((await run('doctor', '--endpoints', '--json')).stdout)
  const faults = away.filter(
    ({ check, status }: { check: string; status: string }) => check === 'endpoints' && status === 'fault',
  )
  expect(faults.length).toBe(doors.length)
})

verifies('cli.doctor.guard', 'the guard of a repository: none, one that works, and what it would say', async () => {
  const { run, server } = await served()
  const folder = join(await temporaryFolder(), 'backend')
  await mkdir(folder)
  const repository = await repositoryAt(folder)
  const guard = async () => {
    const { findings } = JSON.parse((await run('doctor', '--guard', folder, '--json')).stdout)
    return findings.filter(({ check }: { check: string }) => check === 'guard')
  }
  expect(await guard()).toMatchObject([{ status: 'fault', says: expect.stringContaining('no guard') }])
  const mail = plainMail(server)
  await mail.call('ensure_project', { human_key: folder })
  expect(await run('guard', 'install', folder, folder)).toMatchObject({ code: 0 })
  expect(await guard()).toMatchObject([
    { status: 'ok', says: expect.stringContaining('guards the reservations of backend') },
    { status: 'ok', says: expect.stringContaining('a commit of the staged files passes') },
  ])
  await mail.call('register_agent', { project_key: folder, name: 'BlueLake' })
  await mail.call('file_reservation_paths', { project_key: folder, agent_name: 'BlueLake', paths: ['src/**'] })
  await repository.write({ 'src/a.ts': 'x' })
  await repository.git('add', '--all')
  expect((await guard())[1]).toMatchObject({ says: expect.stringMatching(/would be stopped.*BlueLake/s) })
})
