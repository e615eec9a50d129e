/** `parley acks …` as people and scripts run it, beside a server. */
import { expect } from 'vitest'
import { parleyCommand, printedBy } from '../../support/cli.ts'
import { newProject, plainMail } from '../../support/mail.ts'
import { shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()
const fails = (...args: string[]) => parleyCommand(parley(), args)

verifies(['cli.acks.pending', 'cli.acks.overdue'], 'what an agent owes is shown until it acknowledges', async () => {
  const mail = plainMail(parley())
  const project = newProject()
  for (const name of ['GreenCastle', 'BlueLake'])
    await mail.call('register_agent', { project_key: project, name, program: 'test', model: 'test' })
  const { message_id } = await mail.call<{ message_id: number }>('send_message', {
    project_key: project,
    sender_name: 'GreenCastle',
    to: ['BlueLake'],
    subject: 'Schema',
    body_md: 'May I?',
    ack_required: true,
  })
  const json = async (...args: string[]) => JSON.parse(await printedBy(parley(), [...args, '--json']))
  const pending = ['acks', 'pending', project, 'BlueLake']
  expect(await json(...pending)).toMatchObject({ count: 1, messages: [{ id: message_id, subject: 'Schema' }] })
  expect(await json('list-acks', '--project', project, '--agent', 'BlueLake')).toMatchObject({ count: 1 })
  expect(await json('acks', 'overdue', project, 'BlueLake')).toMatchObject({ ttl_minutes: 30, count: 0 })
  const env = { ACK_TTL_SECONDS: '90' }
  const overdue = await printedBy(parley(), ['acks', 'overdue', project, 'BlueLake', '--json'], { env })
  expect(JSON.parse(overdue)).toMatchObject({ ttl_minutes: 1.5 })
  expect(await printedBy(parley(), pending)).toMatch(
    new RegExp(`^id\tfrom\tsubject\timportance\tsent\tread\n${message_id}\tGreenCastle\tSchema\t`),
  )
  await mail.call('acknowledge_message', { project_key: project, agent_name: 'BlueLake', message_id })
  expect(await json(...pending)).toMatchObject({ count: 0, messages: [] })
})

verifies('cli.acks.errors', 'wrong usage is exit code 2, other errors 1, help 0, and no trace is shown', async () => {
  const cases: [number, string[], RegExp][] = [
    [2, ['acks'], /Usage: parley acks /],
    [2, ['acks', 'frobnicate'], /unknown command 'frobnicate'/],
    [2, ['acks', 'pending', 'backend'], /missing required argument 'agent'/],
    [2, ['acks', 'pending', 'backend', 'bob', '--limit', '0'], /whole number, 1 or more/],
    [2, ['acks', 'remind', 'backend', 'bob', '--min-age-minutes', 'old'], /a number of minutes, 0 or more/],
    [2, ['list-acks', '--project', 'backend'], /required option '--agent <name>'/],
    [1, ['acks', 'pending', 'nope', 'bob'], /^There is no project "nope"\.\n[^\n]*`parley list-projects`[^\n]*\n$/],
    [
      1,
      ['list-acks', '--project', 'commons', '--agent', 'Nobody'],
      /^There is no agent "Nobody" in the project commons\.\n`parley agents` lists all agents with their projects\.\n$/,
    ],
  ]
  await Promise.all(
    cases.map(async ([code, args, says]) =>
      expect(await fails(...args)).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(says) }),
    ),
  )
  expect(await printedBy(parley(), ['acks', 'remind', '--help'])).toMatch(/Examples:\n {2}parley acks remind /)
  expect(await printedBy(parley(), ['help', 'list-acks'])).toMatch(/Example:\n {2}parley list-acks --project /)
})

verifies('cli.help.complete', 'the help names every command, and each has a help of its own', async () => {
  const help = await printedBy(parley(), ['--help'])
  const names = [
    'serve',
    'bus',
    'topics',
    'list-projects',
    'list-acks',
    'acks',
    'file_reservations',
    'migrate',
    'export',
  ]
  names.push('import', 'backup', 'restore', 'clear-and-reset-everything', 'doctor')
  for (const name of names) expect(help).toMatch(new RegExp(`^  ${name}[| ]`, 'm'))
  const helps = await Promise.all(names.map((name) => printedBy(parley(), [name, '--help'])))
  for (const [index, text] of helps.entries()) expect(text).toMatch(new RegExp(`^Usage: parley ${names[index]}[| ]`))
})
