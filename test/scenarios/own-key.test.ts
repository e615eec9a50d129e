/** Keys of owners: listed, changed and ended, and brought along by the bus and the commands. */
import { expect } from 'vitest'
import { httpPeer, startBus } from '../support/bus.ts'
import { parleyCommand, printedBy } from '../support/cli.ts'
import { mailbox, shareServer } from '../support/parley.ts'
import { agentWith, ask, freshName, register } from '../support/post.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()

verifies(
  'post.keys.commands',
  'Keys are listed, rotated and revoked, and a revoked agent stays protected',
  async () => {
    const alice = await register(parley(), 'alice')
    const list = async (...args: string[]) =>
      JSON.parse(await printedBy(parley(), ['keys', 'list', ...args, '--json'])).keys
    const created = JSON.parse(await printedBy(parley(), ['keys', 'create', alice.name, '--json']))
    expect(await list(alice.name)).toMatchObject([
      { prefix: created.key.slice(0, 8) },
      { prefix: alice.key.slice(0, 8), agent: alice.name, project: 'commons' },
    ])
    expect((await list()).length).toBeGreaterThanOrEqual(2)
    const status = async (key: string) =>
      (await ask(parley(), 'GET', '/agents/me', { headers: { 'X-API-Key': key } })).status
    await printedBy(parley(), ['keys', 'revoke', alice.name, '--key', alice.key.slice(0, 8)])
    expect([await status(alice.key), await status(created.key)]).toEqual([401, 200])
    const rotated = (await printedBy(parley(), ['keys', 'rotate', alice.name])).trim()
    expect([await status(created.key), await status(rotated)]).toEqual([401, 200])
    await printedBy(parley(), ['keys', 'revoke', alice.name])
    expect(await status(rotated)).toBe(401)
    await expect(mailbox(parley(), alice.name).check()).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect((await ask(parley(), 'POST', '/agents/register', { body: { name: alice.name } })).status).toBe(409)
    expect(await list(alice.name)).toEqual([])
    expect(await parleyCommand(parley(), ['keys', 'revoke', alice.name])).toMatchObject({ code: 1 })
    const again = (await printedBy(parley(), ['keys', 'create', alice.name])).trim()
    expect((await agentWith(parley(), { name: alice.name, key: again }).get('/agents/me')).body.id).toBe(alice.id)
  },
)

verifies('post.keys.brought', 'Commands act as an agent with a key only with PARLEY_API_KEY', async () => {
  const alice = await register(parley(), 'alice')
  const topic = freshName('topic')
  await httpPeer(parley()).call('topic_create', { name: topic })
  const send = (env: Record<string, string>, ...args: string[]) =>
    parleyCommand(parley(), ['topics', 'send', topic, 'hello', ...args], { env })
  expect(await send({}, '--as', alice.name)).toMatchObject({ code: 1, stderr: expect.stringContaining('key') })
  expect(await send({ PARLEY_API_KEY: alice.key })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(alice.name),
  })
  expect(await send({ PARLEY_API_KEY: alice.key }, '--as', 'somebody')).toMatchObject({ code: 1 })
  expect(await send({ PARLEY_API_KEY: `amb_${'0'.repeat(64)}` })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('PARLEY_API_KEY'),
  })
  const acks = ['acks', 'pending', 'commons', alice.name]
  expect((await parleyCommand(parley(), acks)).code).toBe(1)
  expect((await parleyCommand(parley(), acks, { env: { PARLEY_API_KEY: alice.key } })).code).toBe(0)
})

verifies('post.keys.brought', 'The bus joins as an agent with a key only with PARLEY_API_KEY', async () => {
  const alice = await register(parley(), 'alice')
  const joined = async (env: Record<string, string>) => {
    const bus = await startBus({ storage: parley().storage, env })
    const { topic_id } = await bus.call<{ topic_id: string }>('topic_create', { name: freshName('topic') })
    return bus.call('topic_join', { agent_name: alice.name, topic_id }).catch((error: unknown) => error)
  }
  expect(await joined({})).toMatchObject({ code: 'FORBIDDEN' })
  expect(await joined({ PARLEY_API_KEY: alice.key })).toMatchObject({ agent_name: alice.name })
})
