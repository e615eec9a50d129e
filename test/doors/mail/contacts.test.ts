/** Contacts as agents meet them at the mail door and at the mailbox door. */
import { beforeEach, describe, expect, test } from 'vitest'
import { connectMail, type Desk, newDesk, newProject } from '../../support/mail.ts'
import { eras, mailbox, serveHere, shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()

interface Link {
  id: number
  from: string
  from_project: string
  to: string
  to_project: string
  status: string
  reason: string
  created_ts: string
  updated_ts: string
  expires_ts: string | null
  direction?: string
}

const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const secondsLeft = ({ expires_ts }: Link) => (Date.parse(expires_ts ?? '') - Date.now()) / 1000

const calls = ({ door, project }: Desk) => ({
  ask: (from_agent: string, to_agent: string, more: object = {}) =>
    door.call<Link>('request_contact', { project_key: project, from_agent, to_agent, ...more }),
  answer: (to_agent: string, from_agent: string, accept: boolean, more: object = {}) =>
    door.call<Link>('respond_contact', { project_key: project, to_agent, from_agent, accept, ...more }),
  list: (agent_name: string) => door.call<Link[]>('list_contacts', { project_key: project, agent_name }),
  policy: (agent_name: string, policy: string) =>
    door.call('set_contact_policy', { project_key: project, agent_name, policy }),
})

describe.each(eras)('In %s', (era) => {
  let desk: Desk
  let my: ReturnType<typeof calls>
  beforeEach(async () => {
    desk = await newDesk(parley(), await connectMail(parley(), era))
    my = calls(desk)
  })

  verifies(
    ['mail.contact.request', 'mail.contact.respond', 'mail.contact.list'],
    'one asks, the other gets a message and accepts, and both see it',
    async () => {
      await my.policy('BlueLake', 'contacts_only')
      const asked = await my.ask('GreenCastle', 'BlueLake', { reason: 'API changes', ttl_seconds: 60 })
      const slug = asked.from_project
      expect(asked).toEqual({
        id: expect.any(Number),
        from: 'GreenCastle',
        from_project: slug,
        to: 'BlueLake',
        to_project: slug,
        status: 'pending',
        reason: 'API changes',
        created_ts: iso,
        updated_ts: iso,
        expires_ts: iso,
      })
      expect(secondsLeft(asked)).toBeLessThanOrEqual(60)
      expect(await desk.inbox('BlueLake', { include_bodies: true })).toMatchObject([
        {
          subject: 'Contact request from GreenCastle',
          from: 'GreenCastle',
          ack_required: true,
          body_md: expect.stringContaining('API changes'),
        },
      ])
      await expect(desk.send()).rejects.toMatchObject({ code: 'CONTACT_REQUIRED' })
      const answered = await my.answer('BlueLake', 'GreenCastle', true)
      expect(answered).toMatchObject({ id: asked.id, status: 'approved' })
      expect(secondsLeft(answered)).toBeGreaterThan(6.9 * 86400)
      expect(await desk.send()).toMatchObject({ count: 1, blocked: [] })
      expect(await my.list('GreenCastle')).toEqual([{ ...answered, direction: 'outgoing' }])
      expect(await my.list('BlueLake')).toEqual([{ ...answered, direction: 'incoming' }])
      expect(await my.list('RedStone')).toEqual([])
    },
  )

  verifies(
    ['mail.contact.partial', 'mail.contact.policy', 'mail.contact.filed'],
    'a send tells who was not reached, and why',
    async () => {
      expect(await my.policy('BlueLake', 'block_all')).toMatchObject({ name: 'BlueLake', contact_policy: 'block_all' })
      await my.policy('RedStone', 'contacts_only')
      const receipt = await desk.send({ to: ['BlueLake', 'GreenCastle'], bcc: ['RedStone'] })
      expect(receipt.deliveries.map(({ recipient }) => recipient)).toEqual(['GreenCastle'])
      expect(receipt.blocked).toEqual([
        { recipient: 'BlueLake', code: 'CONTACT_BLOCKED', hint: expect.any(String) },
        { recipient: 'RedStone', code: 'CONTACT_REQUIRED', hint: expect.stringContaining('list_contacts') },
      ])
      expect(await my.list('RedStone')).toMatchObject([
        { from: 'GreenCastle', status: 'pending', direction: 'incoming' },
      ])
      await expect(desk.send({ to: ['BlueLake'], cc: ['RedStone'] })).rejects.toMatchObject({
        code: 'CONTACT_BLOCKED',
        message: expect.stringMatching(/BlueLake.*RedStone/),
      })
    },
  )

  verifies('mail.contact.partial', 'who was not reached in another project is told with that project', async () => {
    const other = newProject()
    await desk.door.call('register_agent', { project_key: other, name: 'BlueLake' })
    const { slug } = await desk.door.call<{ slug: string }>('ensure_project', { human_key: other })
    await desk.door.call('set_contact_policy', { project_key: other, agent_name: 'BlueLake', policy: 'contacts_only' })
    const receipt = await desk.send({ to: ['GreenCastle', `BlueLake@${other}`], auto_contact_if_blocked: false })
    expect(receipt.blocked).toEqual([
      {
        recipient: `BlueLake@${slug}`,
        code: 'CONTACT_REQUIRED',
        hint: expect.stringMatching(/^Ask BlueLake for contact.*request_contact/),
      },
    ])
    await my.policy('RedStone', 'block_all')
    expect((await desk.send({ to: ['GreenCastle', 'RedStone'] })).blocked).toMatchObject([{ recipient: 'RedStone' }])
  })

  verifies('mail.contact.block-all', 'neither a reply nor a request reaches block_all', async () => {
    const { message_id } = await desk.send({ to: ['GreenCastle'], sender_name: 'BlueLake', ack_required: true })
    await my.policy('BlueLake', 'block_all')
    await expect(desk.reply(message_id, 'GreenCastle')).rejects.toMatchObject({ code: 'CONTACT_BLOCKED' })
    await expect(my.ask('GreenCastle', 'BlueLake')).rejects.toMatchObject({ code: 'CONTACT_BLOCKED' })
    expect(await desk.inbox('BlueLake')).toEqual([])
    const receipt = await desk.reply(message_id, 'GreenCastle', { to: ['RedStone'], cc: ['BlueLake'] })
    expect(receipt.blocked).toMatchObject([{ recipient: 'BlueLake', code: 'CONTACT_BLOCKED' }])
  })

  verifies('mail.contact.handshake', 'strangers make contact by writing, unless they say otherwise', async () => {
    await expect(desk.send({ auto_contact_if_blocked: false })).rejects.toMatchObject({
      code: 'CONTACT_REQUIRED',
      hint: expect.stringContaining('auto_contact_if_blocked'),
    })
    expect(await desk.send()).toMatchObject({ count: 1 })
    expect(await my.list('BlueLake')).toMatchObject([{ from: 'GreenCastle', status: 'approved', reason: '' }])
    expect(await desk.inbox('BlueLake')).toHaveLength(1)
  })

  verifies(['mail.contact.elsewhere', 'mail.contact.denied'], 'contact is settled across projects', async () => {
    const other = newProject()
    await desk.door.call('register_agent', { project_key: other, name: 'SilverFox' })
    await expect(my.ask('GreenCastle', 'SilverFox')).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
      hint: expect.stringContaining('to_project'),
    })
    const { from_project, to_project } = await my.ask('GreenCastle', 'SilverFox', { to_project: other })
    const fox = { project_key: other, to_agent: 'SilverFox', from_agent: 'GreenCastle' }
    await expect(desk.door.call('respond_contact', { ...fox, accept: true })).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
      hint: expect.stringContaining('from_project'),
    })
    // The project of whoever asked, as project_key: it tells which one is meant.
    const wrong = { ...fox, project_key: desk.project, accept: true }
    await expect(desk.door.call('respond_contact', wrong)).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
      hint: expect.stringContaining('project_key'),
    })
    const answer = (accept: boolean) => desk.door.call('respond_contact', { ...fox, from_project, accept })
    expect(await answer(true)).toMatchObject({ status: 'approved', from_project, to_project })
    expect(await desk.send({ to: ['SilverFox'] })).toMatchObject({
      deliveries: [{ recipient: 'SilverFox', project: to_project }],
    })
    expect(await answer(false)).toMatchObject({ status: 'denied', expires_ts: null })
    await expect(desk.send({ to: [`SilverFox@${to_project}`] })).rejects.toMatchObject({ code: 'CONTACT_BLOCKED' })
  })

  test('bad arguments are told by name', async () => {
    const bad = [
      my.ask('GreenCastle', 'BlueLake', { ttl_seconds: 0 }),
      my.ask('GreenCastle', 'BlueLake', { reason: '' }),
      my.ask('GreenCastle', 'Blue Lake'),
      my.answer('BlueLake', 'GreenCastle', true, { ttl_seconds: 0.5 }),
      my.policy('BlueLake', 'friends'),
    ]
    for (const call of bad) await expect(call).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await expect(my.answer('BlueLake', 'GreenCastle', true)).rejects.toMatchObject({ code: 'CONTACT_NOT_FOUND' })
    const forever = await my.ask('GreenCastle', 'BlueLake', { ttl_seconds: Number.MAX_SAFE_INTEGER })
    expect(forever.expires_ts).toBe('9999-12-31T23:59:59.999Z')
  })
})

verifies('mail.contact.every-door', 'the mailbox door asks the policies too', async () => {
  const desk = await newDesk(parley())
  const my = calls(desk)
  const query = `?project=${encodeURIComponent(desk.project)}`
  const visitor = mailbox(parley(), 'visitor', { query })
  await my.policy('BlueLake', 'block_all')
  await my.policy('RedStone', 'contacts_only')
  await expect(visitor.send('BlueLake', 'hello')).rejects.toMatchObject({ code: 'CONTACT_BLOCKED' })
  await expect(visitor.send('RedStone', 'hello')).rejects.toMatchObject({ code: 'CONTACT_REQUIRED' })
  expect(await my.list('RedStone')).toMatchObject([{ from: 'visitor', status: 'pending' }])
  const asked = { subject: 'Contact request from visitor' }
  expect(await desk.inbox('RedStone')).toMatchObject([asked])
  await visitor.send('GreenCastle', 'hello')
  expect(await my.list('GreenCastle')).toMatchObject([{ from: 'visitor', status: 'approved' }])
  // The recipient may answer, also from there.
  await desk.send({ sender_name: 'RedStone', to: ['visitor'], client_message_id: 'q-1' })
  await visitor.send('RedStone', 'answer', 'q-1')
  expect(await desk.inbox('RedStone')).toMatchObject([{ from: 'visitor', subject: 'answer' }, asked])
})

verifies(
  ['mail.contact.unenforced', 'mail.contact.handshake-off'],
  'the settings decide on enforcement, handshake and retry',
  async () => {
    const contactOf = async (env: Record<string, string>) => {
      const desk = await newDesk(await serveHere({ env }))
      const code = await desk.send().then(
        () => 'delivered',
        (error: { code: string }) => error.code,
      )
      return { code, links: (await calls(desk).list('BlueLake')).map(({ status }) => status) }
    }
    const found = await Promise.all([
      contactOf({ CONTACT_ENFORCEMENT_ENABLED: 'false' }),
      contactOf({ MESSAGING_AUTO_HANDSHAKE_ON_BLOCK: 'false' }),
      contactOf({ CONTACT_AUTO_RETRY_ENABLED: 'false' }),
    ])
    expect(found).toEqual([
      { code: 'delivered', links: [] },
      { code: 'CONTACT_REQUIRED', links: [] },
      { code: 'CONTACT_REQUIRED', links: ['approved'] },
    ])
  },
)
