/** Agents are named by addresses in every tool and resource: the tables are walked, so that a new row cannot forget it. */
import { describe, expect, test } from 'vitest'
import { readArguments } from '../../src/doors/mcp/args.ts'
import { inputSchema } from '../../src/doors/mcp/schema.ts'
import { newDesk } from '../support/mail.ts'
import { callTool, connectClient, mailbox, shareServer } from '../support/parley.ts'
import { mailSamples } from '../support/samples.ts'
import { allRows, type Json, mailRows, propertiesOf } from '../support/tables.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()

describe('The name of an agent', () => {
  /** Texts that name an agent, and those that do not: a new one has to be put into either. */
  const agents = ['agent_name', 'sender_name', 'from_agent', 'to_agent', 'requester', 'target', 'to', 'cc', 'bcc']
  const others = [
    ...['project_key', 'human_key', 'to_project', 'from_project', 'program', 'model', 'task_description', 'name_hint'],
    ...['subject', 'body_md', 'importance', 'thread_id', 'client_message_id', 'subject_prefix', 'since_ts', 'reason'],
    ...['policy', 'on_conflict', 'query', 'llm_model', 'welcome_subject', 'welcome_body', 'file_reservation_reason'],
    ...['attachments_policy', 'attachment_paths', 'code_repo_path'],
    ...['paths', 'file_reservation_paths', 'file_reservation_ids', 'thread_ids', 'roles'],
  ]
  /** Here `name` is the agent's own. */
  const namesItself = ['register_agent']

  verifies('all.names.address', 'may be Name@project in every tool of mail', async () => {
    const desk = await newDesk(parley())
    const { message_id } = await desk.send()
    const { slug } = await desk.door.call<{ slug: string }>('ensure_project', { human_key: desk.project })
    const outcome = (tool: string, args: Json) =>
      desk.door.call(tool, args).then(
        () => 'answered',
        (error: { code: string }) => error.code,
      )
    let found = 0
    for (const { name: tool, input } of mailRows) {
      const sample = mailSamples(desk.project, message_id)[tool] ?? {}
      for (const [argument, { type, items }] of Object.entries(propertiesOf(inputSchema({ input })))) {
        const text = type === 'string' || (type === 'array' && (items as Json).type !== 'object')
        if (!text || others.includes(argument) || (argument === 'name' && namesItself.includes(tool))) continue
        expect(agents, `${tool}.${argument} is neither known as an agent's name nor as something else`).toContain(
          argument,
        )
        const plain = sample[argument] ?? 'RedStone'
        const names = [plain].flat()
        for (const home of [slug, desk.project]) {
          found++
          const addressed = { ...sample, [argument]: names.map((name) => `${name}@${home}`) }
          const args =
            Array.isArray(sample[argument]) || ['to', 'cc', 'bcc'].includes(argument)
              ? addressed
              : { ...addressed, [argument]: `${names[0]}@${home}` }
          const expected = await outcome(tool, { ...sample, [argument]: plain })
          expect.soft([tool, argument, home, await outcome(tool, args)]).toEqual([tool, argument, home, expected])
        }
      }
    }
    expect(found).toBeGreaterThan(40)
  })

  verifies('all.names.address', 'is of the project it tells, or an error where that is another', async () => {
    const [here, there] = [await newDesk(parley()), await newDesk(parley())]
    await there.door.call('register_agent', { project_key: there.project, name: 'WhiteRiver' })
    const { slug } = await there.door.call<{ slug: string }>('ensure_project', { human_key: there.project })
    const project_key = here.project
    const call = <Value = Json>(tool: string, args: Json) => here.door.call<Value>(tool, { project_key, ...args })
    expect(await call('whois', { agent_name: `WhiteRiver@${slug}` })).toMatchObject({
      name: 'WhiteRiver',
      project: slug,
    })
    const asked = { from_agent: 'GreenCastle', to_agent: `whiteriver@${slug}` }
    expect(await call('request_contact', asked)).toMatchObject({ to: 'WhiteRiver', to_project: slug })
    for (const [tool, args] of Object.entries({
      fetch_inbox: { agent_name: `WhiteRiver@${slug}` },
      file_reservation_paths: { agent_name: `GreenCastle@${slug}`, paths: ['a'] },
    }))
      await expect(call(tool, args)).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining(slug),
        hint: expect.stringContaining(slug),
      })
    // An agent that registers again may name its home; the address of a stranger is only a wish.
    expect(await there.door.call('register_agent', { project_key: slug, name: `WhiteRiver@${slug}` })).toMatchObject({
      name: 'WhiteRiver',
    })
    expect(await call('register_agent', { name: `WhiteRiver@${slug}` })).toHaveProperty('name_requested')
  })

  verifies('all.names.address', 'may be Name@project in resources', async () => {
    const { door, project, send } = await newDesk(parley())
    await send()
    const { slug } = await door.call<{ slug: string }>('ensure_project', { human_key: project })
    const client = await connectClient(`${parley().url}/mcp`, '2025-11-25')
    const { resourceTemplates } = await client.listResourceTemplates()
    const ofAgents = resourceTemplates.map(({ uriTemplate }) => uriTemplate).filter((uri) => uri.includes('{agent}'))
    expect(ofAgents.length).toBeGreaterThan(7)
    for (const uri of ofAgents) {
      const at = (agent: string, query = '') =>
        door.read<Json>(`${uri.replace(/\{\?.*\}$/, '').replace('{agent}', encodeURIComponent(agent))}${query}`)
      const { generated_at: _, ...plain } = await at('BlueLake', `?project=${slug}`)
      for (const query of ['', `?project=${encodeURIComponent(project)}`]) {
        const { generated_at: _, ...addressed } = await at(`BlueLake@${slug}`, query)
        expect.soft({ ...addressed, project: slug }, uri).toEqual(plain)
      }
    }
    const recent = await door.read<{ count: number }>(`resource://tooling/recent/60?agent=greencastle@${slug}`)
    expect(recent.count).toBeGreaterThan(0)
  })

  verifies('all.names.address', 'may be Name@project at the mailbox door, in the call and in the path', async () => {
    const { project } = await newDesk(parley())
    const [alice, bob] = [mailbox(parley(), 'alice'), mailbox(parley(), 'bob', { query: `?project=${project}` })]
    await bob.check()
    await alice.send(`bob@${project}`, 'over there')
    const path = encodeURIComponent(`bob@${project}`)
    expect(await mailbox(parley(), path).check()).toMatchObject({ content: 'over there' })
    const both = fetch(`${parley().url}/agents/${path}/mcp?project=/srv/other`, { method: 'POST', body: '{}' })
    expect((await both).status).toBeGreaterThanOrEqual(400)
    const { isError } = await callTool(`${parley().url}/agents/alice/mcp`, 'send_to_agent', { name: 'bob@', msg: 'x' })
    expect(isError).toBe(true)
  })

  test('is taken as it is on the bus, where a name may hold an "@" itself', () => {
    const join = allRows.find(({ name }) => name === 'topic_join')
    expect(join && readArguments(join, { agent_name: 'red@squirrel', topic_id: 'x' })).toMatchObject({
      agent_name: 'red@squirrel',
    })
  })
})
