/** `parley file_reservations …` as people and scripts run it, beside a server whose agents reserve files. */
import { expect } from 'vitest'
import { parleyCommand, printedBy } from '../../support/cli.ts'
import { newDesk } from '../../support/mail.ts'
import { shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()
const reservations = (...args: string[]) => printedBy(parley(), ['file_reservations', ...args])
const fails = (...args: string[]) => parleyCommand(parley(), ['file_reservations', ...args])

verifies('cli.leases.list', 'what agents reserve is seen at once', async () => {
  const { door, project } = await newDesk(parley())
  const paths = ['app/api/*.py']
  await door.call('file_reservation_paths', {
    project_key: project,
    agent_name: 'GreenCastle',
    paths,
    ttl_seconds: 600,
  })
  for (const args of [
    ['list', project],
    ['active', project, '--limit', '5'],
    ['soon', project, '--minutes', '11'],
  ])
    expect(await reservations(...args)).toMatch(/\n\d+\tGreenCastle\tapp\/api\/\*\.py\texclusive\tactive\t2\S+Z\t\n$/)
  expect(JSON.parse(await reservations('list', project, '--json'))).toMatchObject({ count: 1, has_more: false })
  await door.call('release_file_reservations', { project_key: project, agent_name: 'GreenCastle' })
  expect(JSON.parse(await reservations('active', project, '--json'))).toMatchObject({ count: 0 })
  expect(await reservations('list', project, '--no-active-only')).toContain('\treleased\t')
})

verifies('cli.leases.release', 'a person frees a lease, and its holder is told which', async () => {
  const { door, project, inbox } = await newDesk(parley())
  const reserve = (agent_name: string, paths: string[]) =>
    door.call<{ granted: { id: number }[] }>('file_reservation_paths', { project_key: project, agent_name, paths })
  const { granted } = await reserve('GreenCastle', ['src/**', 'docs', 'a.ts'])
  await reserve('BlueLake', ['docs'])
  expect(await reservations('release', project, `#${granted[0]?.id}`)).toBe(
    `Released src/** (${granted[0]?.id}), held by GreenCastle.\n`,
  )
  expect(JSON.parse(await reservations('release', project, './docs/', '--json'))).toEqual({
    released: 2,
    file_reservations: [
      { id: granted[1]?.id, agent: 'GreenCastle', path_pattern: 'docs', told: true },
      { id: expect.any(Number), agent: 'BlueLake', path_pattern: 'docs', told: true },
    ],
  })
  expect(JSON.parse(await reservations('active', project, '--json'))).toMatchObject({
    file_reservations: [{ path_pattern: 'a.ts' }],
  })
  expect(await inbox('GreenCastle', { include_bodies: true })).toMatchObject([
    { from: 'HumanOverseer', subject: 'Your reservation of docs was released', importance: 'high' },
    { from: 'HumanOverseer', body_md: expect.stringContaining('- `src/**`') },
  ])
  expect(await inbox('BlueLake')).toMatchObject([{ subject: 'Your reservation of docs was released' }])

  const { stderr, code } = await fails('release', project, 'docs', '99999')
  expect({ stderr, code }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^No such reservation.*\n.*`parley file_res/),
  })
  expect(await fails('release', project)).toMatchObject({ code: 2 })
})

verifies('cli.leases.errors', 'wrong usage ends with 2, an unknown project with 1', async () => {
  expect(await fails('list')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("missing required argument 'project'"),
  })
  expect(await fails('soon', 'x', '--minutes', '0')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('It must be a whole number, 1 or more.'),
  })
  expect(await fails('active', 'nowhere')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^There is no project "nowhere"\.\n\S/),
  })
  expect(await fails('soon', '--help')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('parley file_reservations soon backend --minutes 10'),
  })
})
