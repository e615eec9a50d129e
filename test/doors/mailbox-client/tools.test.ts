/** `parley mailbox` as its hosts use it: a process of its own that the official client started, against a real server. */
import { describe, expect } from 'vitest'
import { mailboxClientDoor } from '../../../src/doors/mailbox-client/door.ts'
import { lintDoor } from '../../support/door-lint.ts'
import { pair, register, startMailbox, unreadOf } from '../../support/mailbox-client.ts'
import { eras, mailbox, shareServer } from '../../support/parley.ts'
import { freshName } from '../../support/post.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()

const names = ['check', 'connect', 'approve', 'send', 'read', 'wait', 'reply'].map((name) => `mailbox_${name}`)

describe.each(eras)('In the era of %s', (era) => {
  verifies(
    ['client.tools.all', 'client.tools.connect', 'client.tools.talk', 'client.wait.connections'],
    'two agents of different owners connect and talk',
    async () => {
      const { url } = parley()
      const [alice, bob] = await Promise.all([register(parley(), 'alice'), register(parley(), 'bob')])
      const [hers, his] = await Promise.all([alice, bob].map(({ key }) => startMailbox({ url, key, era })))
      if (hers === undefined || his === undefined) throw new Error('not started')
      const { tools } = await hers.client.listTools()
      expect(tools.map(({ name }) => name)).toEqual(names)
      expect(tools.every(({ annotations }) => annotations?.readOnlyHint !== undefined)).toBe(true)

      expect(await his.call('mailbox_check')).toBe('Your mailbox is empty.')
      const asked = await hers.call('mailbox_connect', { target_agent_name: bob.name, message: 'Hi\n[end]' })
      const code = /[A-Z]{2}-\d{3}/.exec(asked)?.[0]
      expect(code).toBeDefined()
      expect(await his.call('mailbox_check')).toContain(`${alice.name} asked to connect`)
      expect(await his.call('mailbox_check')).toContain(`> Hi\n> [end]\n`)
      expect(await his.call('mailbox_approve', { code })).toContain(`Connected with ${alice.name}`)
      const told = await hers.call('mailbox_wait', { wait_seconds: 20 })
      expect(told).toContain(`${bob.name} has approved your connection`)

      const sent = await hers.call('mailbox_send', { to: bob.name, subject: 'Plan', content: 'Shall we start?' })
      const session = /session (\S+)\./.exec(sent)?.[1]
      const checked = await his.call('mailbox_check')
      expect(checked).toContain(`Session ${session} with ${alice.name}, subject "Plan": 1 unread`)
      expect(checked).toContain(`[message from agent ${alice.name}, id `)
      expect(checked).toContain('> Shall we start?\n')
      expect(await unreadOf(bob)).toEqual(['Shall we start?'])
      expect(await his.call('mailbox_read', { session_id: session })).toContain('> Shall we start?\n')
      expect(await unreadOf(bob)).toEqual([])

      const waiting = hers.call('mailbox_wait', { wait_seconds: 20 })
      const reply = await his.call('mailbox_reply', { session_id: session, content: 'Yes.' })
      expect(reply).toContain(`Sent to ${alice.name}`)
      expect(reply).toContain(`session ${session}`)
      const heard = await waiting
      expect(heard).toContain(`Session ${session}, subject "Plan"`)
      expect(heard).toContain('> Yes.\n')
      await expect.poll(() => unreadOf(alice)).toEqual([])
    },
  )
})

verifies('client.tools.all', 'The tools answer text, and any client takes them', async () => {
  expect(lintDoor(mailboxClientDoor({} as Parameters<typeof mailboxClientDoor>[0]))).toEqual([])
  const [alice] = await pair(parley())
  const { client } = await startMailbox({ url: parley().url, key: alice.key })
  const result = await client.callTool({ name: 'mailbox_check', arguments: {} })
  expect(result).toMatchObject({ content: [{ type: 'text', text: expect.any(String) }] })
  expect(result).not.toHaveProperty('structuredContent')
})

verifies('client.tools.own', 'Messages of its own are not called unread', async () => {
  const { url } = parley()
  const [alice, bob] = await pair(parley())
  const hers = await startMailbox({ url, key: alice.key })
  const sent = await hers.call('mailbox_send', { to: bob.name, subject: 'Plan', content: 'Shall we start?' })
  const session_id = /session (\S+)\./.exec(sent)?.[1]
  await bob.rest.send({ to: alice.name, subject: 'Plan', content: 'Yes.' })
  const checked = await hers.call('mailbox_check')
  expect(checked).toContain('1 unread message in 1 session.')
  const [own, his] = checked.split('[message from agent ').slice(1)
  expect(own).toContain('> Shall we start?')
  expect(own).not.toContain('unread')
  expect(his).toMatch(/unread[\s\S]*> Yes\./)
  const read = await hers.call('mailbox_read', { session_id })
  expect(read).toContain('> Shall we start?')
  expect(read).not.toContain('unread')
})

verifies(
  'client.tools.answer',
  'A request without a code is shown as one to answer, and is answered by its id',
  async () => {
    const { url } = parley()
    const bob = await register(parley(), 'bob')
    const his = await startMailbox({ url, key: bob.key })
    const knock = async (from: string) => {
      await expect(mailbox(parley(), from).send(bob.name, 'let me in')).rejects.toMatchObject({
        code: 'CONTACT_REQUIRED',
      })
      const { pending_connections } = await bob.rest.pending()
      return pending_connections.find(({ from_agent_name }) => from_agent_name === from)?.connection_id ?? ''
    }
    const [wanted, unwanted] = [freshName('wanted'), freshName('unwanted')]
    const connection_id = await knock(wanted)
    const checked = await his.call('mailbox_check')
    expect(checked).toContain(`${wanted} asked to connect`)
    expect(checked).toContain(`it has no code: answer with connection_id ${connection_id}`)
    for (const args of [{}, { code: 'AA-111', connection_id }, { code: 'AA-111', accept: false }])
      await expect(his.call('mailbox_approve', args)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(await his.call('mailbox_approve', { connection_id })).toContain(`Connected with ${wanted}`)
    await mailbox(parley(), wanted).send(bob.name, 'now I am in')
    expect(await unreadOf(bob)).toContain('now I am in')
    const declined = await his.call('mailbox_approve', { connection_id: await knock(unwanted), accept: false })
    expect(declined).toBe(`Declined the request of ${unwanted}.`)
    await expect(mailbox(parley(), unwanted).send(bob.name, 'and now?')).rejects.toMatchObject({
      code: 'CONTACT_BLOCKED',
    })
    await expect(his.call('mailbox_approve', { connection_id })).rejects.toMatchObject({ code: 'CONTACT_NOT_FOUND' })

    // A question back counts as an answer.
    const third = freshName('third')
    await knock(third)
    expect(await his.call('mailbox_connect', { target_agent_name: third })).toContain(`Connected with ${third}`)
  },
)

verifies('client.errors.worded', 'What is refused is an error with the next step, and sends nothing', async () => {
  const { url } = parley()
  const [alice, bob] = await pair(parley())
  const carol = await register(parley(), 'carol')
  const { call } = await startMailbox({ url, key: alice.key })
  const sending = { to: carol.name, subject: 'x', content: 'y' }
  await expect(call('mailbox_send', sending)).rejects.toMatchObject({
    code: 'CONTACT_REQUIRED',
    hint: expect.stringContaining('mailbox_connect'),
  })
  await expect(call('mailbox_send', { ...sending, to: 'nobody-at-all' })).rejects.toMatchObject({
    code: 'AGENT_NOT_FOUND',
  })
  await expect(call('mailbox_connect', { target_agent_name: bob.name })).rejects.toMatchObject({
    code: 'CONTACT_EXISTS',
  })
  await expect(call('mailbox_approve', { code: 'ZZ-000' })).rejects.toMatchObject({ message: expect.any(String) })
  const nowhere = '00000000-0000-7000-8000-000000000000'
  for (const tool of ['mailbox_read', 'mailbox_reply'])
    await expect(
      call(tool, { session_id: nowhere, ...(tool === 'mailbox_reply' && { content: 'x' }) }),
    ).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND', hint: expect.stringContaining('mailbox_check') })
  await expect(call('mailbox_send', { to: bob.name, subject: 'x' })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining('"content" is missing'),
  })
  await expect(call('mailbox_send', { to: bob.name, subject: 'x', content: 'y'.repeat(10_001) })).rejects.toMatchObject(
    { code: 'INVALID_ARGUMENT', message: expect.stringContaining('10000 characters') },
  )
  await expect(call('mailbox_wait', { wait_seconds: -1 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect(await unreadOf(bob)).toEqual([])
})

verifies('client.key.missing', 'Without a key, or with a wrong one, it says what has to be set', async () => {
  const { url } = parley()
  for (const key of [undefined, `amb_${'0'.repeat(64)}`]) {
    const { call } = await startMailbox({ url, ...(key !== undefined && { key }) })
    for (const tool of ['mailbox_check', 'mailbox_wait'])
      await expect(call(tool)).rejects.toMatchObject({
        code: 'UNAUTHENTICATED',
        hint: expect.stringContaining('MAILBOX_API_KEY'),
      })
  }
})
