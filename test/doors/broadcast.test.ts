/** There is no broadcast by a name: at every door that addresses messages, and in no topic. */
import { expect } from 'vitest'
import { parleyCommand } from '../support/cli.ts'
import { countRows } from '../support/counting.ts'
import { hubDoorOf } from '../support/hub-door.ts'
import { callTool, mailbox, shareServer } from '../support/parley.ts'
import { register } from '../support/post.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()

const names = ['all', 'Everyone', 'TEAM', 'broadcast', '*', 'all@commons']

verifies(
  'all.recipients.broadcast',
  'Nobody is called all, at any door; the error names the active agents',
  async () => {
    await mailbox(parley(), 'dora').send('emil', 'here I am')
    const alice = await register(parley(), 'alice')
    const stored = countRows(parley().storage)
    const refusal = {
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('there is no broadcast'),
      hint: expect.stringMatching(/^Name each recipient\. Active agents: .*\bdora\b/),
    }
    const hub = hubDoorOf(parley(), 'dora-2')
    for (const name of names) {
      await expect(mailbox(parley(), 'dora-1').send(name, 'hello')).rejects.toMatchObject(refusal)
      await expect(hub.send(name, 'hello')).rejects.toMatchObject(refusal)
      await expect(hub.call('apm2.message.ask', { to: name, text: 'well?' })).rejects.toMatchObject(refusal)
      const broadcast = { to: ['dora', name], text: 'hello', wait_seconds: 0 }
      await expect(hub.call('apm2.message.broadcast', broadcast)).rejects.toMatchObject(refusal)
      const { status, body } = await alice.send({ name }, 'Plan', 'hello')
      expect([status, body.code, body.detail]).toEqual([
        422,
        'INVALID_ARGUMENT',
        expect.stringMatching(/there is no broadcast.*Active agents: .*\bdora\b/),
      ])
    }
    // No call that was refused has made anything.
    expect(countRows(parley().storage)).toEqual(stored)
  },
)

verifies('all.names.broadcast', 'No door makes an agent of such a name', async () => {
  const refusal = { code: 'INVALID_ARGUMENT', message: expect.stringContaining('means all agents') }
  const stored = countRows(parley().storage)
  await expect(mailbox(parley(), 'all').send('emil', 'hello')).rejects.toMatchObject(refusal)
  await expect(hubDoorOf(parley(), 'team').send('emil', 'hello')).rejects.toMatchObject(refusal)
  const mail = `${parley().url}/mcp?project=/srv/repos/of-all&agent=Everyone`
  expect(await callTool(mail, 'macro_start_session', {})).toMatchObject({
    isError: true,
    structuredContent: { error: refusal },
  })
  const owned = await fetch(`${parley().url}/agents/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'broadcast' }),
  })
  expect([owned.status, await owned.json()]).toMatchObject([422, { code: 'INVALID_ARGUMENT' }])
  expect(await parleyCommand({ storage: parley().storage }, ['invite', 'all'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('means all agents'),
  })
  expect(countRows(parley().storage)).toEqual(stored)
})

verifies('all.names.hub', 'No door makes an agent called Parley, however it is written', async () => {
  const refusal = { code: 'INVALID_ARGUMENT', message: expect.stringContaining('that of the hub') }
  const stored = countRows(parley().storage)
  await expect(mailbox(parley(), 'parley').send('emil', 'Waking is paused')).rejects.toMatchObject(refusal)
  await expect(hubDoorOf(parley(), 'PARLEY').send('emil', 'Waking is paused')).rejects.toMatchObject(refusal)
  const owned = await fetch(`${parley().url}/agents/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Parley' }),
  })
  expect([owned.status, await owned.json()]).toMatchObject([422, { code: 'INVALID_ARGUMENT' }])
  expect(countRows(parley().storage)).toEqual(stored)
})

verifies('all.recipients.broadcast', 'In a project that is not there yet nobody is active', async () => {
  const box = mailbox(parley(), 'dora', { query: '?project=/srv/repos/nobody-yet' })
  await expect(box.send('all', 'hello')).rejects.toMatchObject({ hint: expect.stringContaining('Nobody else') })
})

verifies('all.recipients.broadcast', 'A topic is for all who joined: whatever "to" says', async () => {
  const bus = `${parley().url}/bus/mcp?agent=emil`
  const { structuredContent } = await callTool(bus, 'topic_create', { name: 'plans' })
  const { topic_id } = structuredContent as { topic_id: string }
  await callTool(bus, 'topic_join', { agent_name: 'emil', topic_id })
  const sent = await hubDoorOf(parley(), 'emil').send('all', 'hello', { thread: topic_id })
  expect(sent).toMatchObject({ seq: 1 })
})
