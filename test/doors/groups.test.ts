/** Mail to groups at the doors: those that address agents of a project take groups, the others do not. */
import { expect } from 'vitest'
import { parleyCommand } from '../support/cli.ts'
import { hubDoorOf } from '../support/hub-door.ts'
import { connectMail, newProject, type Receipt } from '../support/mail.ts'
import { callTool, eras, mailbox, shareServer } from '../support/parley.ts'
import { register } from '../support/post.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()

const team = { GreenCastle: [], BlueLake: ['Reviewer'], RedStone: ['reviewer', 'tester'] } as const

verifies(['mail.group.doors', 'mail.agent.roles'], 'A group is addressed at three doors, in both eras', async () => {
  for (const era of eras) {
    const door = await connectMail(parley(), era)
    const project_key = newProject()
    for (const [name, roles] of Object.entries(team))
      await door.call('register_agent', { project_key, program: 'test', model: 'none', name, roles })
    expect(await door.call('whois', { project_key, agent_name: 'RedStone' })).toMatchObject({
      roles: ['reviewer', 'tester'],
    })
    expect(await door.call('whois', { project_key, agent_name: 'GreenCastle' })).not.toHaveProperty('roles')
    // Roles that are left out stay.
    await door.call('register_agent', { project_key, name: 'RedStone', task_description: 'tests' })
    const message = { project_key, sender_name: 'GreenCastle', subject: 'Plan', body_md: 'hello' }
    const names = async (...to: string[]) =>
      (await door.call<Receipt>('send_message', { ...message, to })).deliveries.map(({ recipient }) => recipient)
    expect(await names('role:reviewer')).toEqual(expect.arrayContaining(['BlueLake', 'RedStone']))
    expect(await names('all:project')).toEqual(['BlueLake', 'RedStone'])
    expect(await names('any:reviewer')).toHaveLength(1)
    expect(await names('any:tester', 'BlueLake')).toEqual(['BlueLake', 'RedStone'])
    for (const to of ['role:', 'role:a b', 'any:reviewer@commons', 'all:agents'])
      await expect(names(to)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await expect(names('role:painter')).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
      hint: expect.stringContaining('reviewer, tester'),
    })
    await expect(names('all')).rejects.toMatchObject({ hint: expect.stringContaining('all:project') })

    const query = `?project=${encodeURIComponent(project_key)}`
    await mailbox(parley(), 'GreenCastle', { query }).send('role:tester', 'from the mailbox')
    const hub = hubDoorOf(parley(), 'GreenCastle', { project: project_key })
    expect(await hub.send('role:tester', 'from the hub')).toMatchObject({ deliveries: [{ recipient: 'RedStone' }] })
    expect(await hub.call('apm2.message.broadcast', { to: ['all:project'], text: 'all' })).toMatchObject({ sent: 2 })
    const inbox = { project_key, agent_name: 'RedStone', include_bodies: true }
    expect((await door.call<{ body_md: string }[]>('fetch_inbox', inbox)).map(({ body_md }) => body_md)).toEqual(
      expect.arrayContaining(['from the mailbox', 'from the hub', 'all']),
    )

    const { stdout } = await parleyCommand(parley(), ['who', '--project', project_key, '--json'])
    expect(JSON.parse(stdout).agents).toContainEqual(expect.objectContaining({ name: 'BlueLake', roles: ['reviewer'] }))
  }
})

verifies('mail.group.doors', 'Post and bus know no groups', async () => {
  const dora = await register(parley(), 'dora')
  const { status } = await dora.send({ name: 'role:reviewer' }, 'Plan', 'hello')
  expect(status).toBe(422)
  const bus = `${parley().url}/bus/mcp?agent=dora`
  expect(await callTool(bus, 'topic_join', { agent_name: 'role:reviewer', name: 'plan' })).not.toMatchObject({
    structuredContent: { sent: expect.anything() },
  })
})
