/** The tools that install and remove guards, as agents call them. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { parleyCommand } from '../../support/cli.ts'
import { guardedProject, repositoryAt } from '../../support/guard.ts'
import { connectMail } from '../../support/mail.ts'
import { callTool, eras, serveHere, shareServer, temporaryFolder } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()
const newRepository = async () => repositoryAt(join(await temporaryFolder(), 'backend'))

describe.each(eras)('In %s', (era) => {
  verifies('mail.guard.tools', 'the guard is installed, stops a commit, and is removed', async () => {
    const { folder, hook, write, commit } = await newRepository()
    const { reserve } = await guardedProject(parley(), folder)
    const door = await connectMail(parley(), era)
    const place = { code_repo_path: folder }
    expect(await door.call('install_precommit_guard', { project_key: folder, ...place })).toEqual({ hook })
    await reserve('GreenCastle', ['app/**'])
    await write({ 'app/a.py': '1' })
    expect(await commit('BlueLake')).toMatchObject({ code: 1, said: expect.stringContaining('GreenCastle') })
    expect(await door.call('uninstall_precommit_guard', place)).toEqual({ removed: true })
    expect(await door.call('uninstall_precommit_guard', place)).toEqual({ removed: false })
    expect(await commit('BlueLake')).toEqual({ code: 0, said: '' })
  })
})

verifies('mail.guard.tools', 'what cannot be guarded is refused with the reason, and nothing is made', async () => {
  const folder = await temporaryFolder()
  await guardedProject(parley(), folder)
  const door = await connectMail(parley(), '2025-11-25')
  const install = (code_repo_path: string, project_key = folder) =>
    door.call('install_precommit_guard', { project_key, code_repo_path }).catch((error: unknown) => error)
  expect(await install(folder)).toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringMatching(/not a working folder of a Git repository: fatal: not a git/),
  })
  expect(await install(join(folder, 'none'))).toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining('does not exist here'),
  })
  expect(await install('code')).toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining('absolute'),
  })
  const { folder: code } = await newRepository()
  expect(await install(code, '/srv/nowhere')).toMatchObject({ code: 'PROJECT_NOT_FOUND' })
  expect(await parleyCommand(parley(), ['guard', 'status', code])).toMatchObject({ code: 1 })
})

verifies(
  ['mail.guard.callers', 'mail.guard.secrets'],
  'the operator installs one, an agent with a key does not',
  async () => {
    const token = 'secret-of-the-operator'
    const own = await serveHere({ env: { HTTP_BEARER_TOKEN: token } })
    const { folder, hook } = await newRepository()
    await guardedProject(own, folder)
    const { stdout } = await parleyCommand(own, ['keys', 'create', 'GreenCastle', '--project', folder, '--json'])
    const { key } = JSON.parse(stdout) as { key: string }
    expect(key).toMatch(/\S{20}/)
    const call = (tool: string, bearer: string) =>
      callTool(
        `${own.url}/mcp`,
        tool,
        { code_repo_path: folder, ...(tool.startsWith('install') && { project_key: folder }) },
        { headers: { Authorization: `Bearer ${bearer}` } },
      )
    const forbidden = { isError: true, structuredContent: { error: { code: 'FORBIDDEN' } } }
    expect(await call('install_precommit_guard', key)).toMatchObject(forbidden)
    expect(await call('install_precommit_guard', token)).toMatchObject({ structuredContent: { hook } })
    expect(await call('uninstall_precommit_guard', key)).toMatchObject(forbidden)
    const text = await readFile(hook, 'utf8')
    for (const secret of [token, key]) expect(text).not.toContain(secret)
    for (const known of [own.storage, own.url, folder, process.execPath]) expect(text).toContain(known)
  },
)
