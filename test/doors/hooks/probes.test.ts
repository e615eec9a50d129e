/** Reach is no way to find out who is online, and a trace shows what its reader may read. */
import { expect } from 'vitest'
import { callTool, mailbox } from '../../support/parley.ts'
import { ask, type Body, connected, eachPost, register } from '../../support/post.ts'
import { verifies } from '../../support/verifies.ts'

eachPost('Probes', (parley) => {
  const asked = async (key: string | undefined, path: string): Promise<Body> =>
    ask(parley(), 'GET', path, { headers: key === undefined ? {} : { 'x-api-key': key } })

  verifies('waking.reach.probe', 'with a key of their own', async () => {
    const [ann, bob] = await connected(parley())
    const eve = await register(parley(), 'eve')
    const headers = { 'x-api-key': ann.key }
    const sent = await callTool(
      `${parley().url}/agents/${ann.name}/mcp`,
      'send_to_agent',
      { name: bob.name, msg: 'x' },
      { headers },
    )
    // A sender that may write is told with the receipt, and no more.
    expect((sent.structuredContent as Body).reach).toMatchObject({ state: expect.any(String) })
    const { agents } = (await asked(undefined, '/people/agents?limit=100')).body
    expect(agents.find(({ name }: Body) => name === bob.name)).toMatchObject({ reach: { text: expect.any(String) } })
    for (const key of [ann.key, eve.key]) {
      const listed = (await asked(key, '/people/agents?limit=100')).body.agents
      expect(listed.length).toBeGreaterThan(0)
      expect(listed.filter((agent: Body) => 'reach' in agent)).toEqual([])
    }
    const { id } = (await asked(ann.key, `/people/inbox?name=${ann.name}&sent=true`)).body.messages[0]
    const [own, foreign, people] = [
      await asked(ann.key, `/people/trace?id=${id}`),
      await asked(eve.key, `/people/trace?id=${id}`),
      await asked(undefined, `/people/trace?id=${id}`),
    ]
    expect(own.body.recipients).toEqual([expect.not.objectContaining({ reach: expect.anything() })])
    expect([foreign.status, people.status]).toEqual([404, 200])
    expect(people.body.recipients).toMatchObject([{ state: 'queued', reach: { text: expect.any(String) } }])
    const refused = await callTool(
      `${parley().url}/agents/${eve.name}/mcp`,
      'send_to_agent',
      { name: bob.name, msg: 'x' },
      { headers: { 'x-api-key': eve.key } },
    )
    expect(JSON.stringify(refused)).not.toMatch(/reach|seen|waiting/)
    await mailbox(parley(), 'carl').check()
  })
})
