/** Hooks that name nobody: the session is bound to its agent by what it does. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { callTool } from '../../support/parley.ts'
import { ask, type Body, eachPost } from '../../support/post.ts'
import { verifies } from '../../support/verifies.ts'

eachPost('Bound sessions', (parley) => {
  let count = 0
  const project = `/tmp/bound-${process.pid}`
  const newSession = () => `session-${count++}`

  const hook = async (client: string, event: string, payload: object, query = '', headers = {}): Promise<Body> =>
    (await ask(parley(), 'POST', `/hooks/${client}/${event}${query}`, { body: payload, headers })).body

  /** 25 ms are little on a machine that runs other tests: an answer that came too late is asked for again. */
  const told = (...hooked: Parameters<typeof hook>) =>
    expect.poll(async () => textOf(await hook(...hooked)), { timeout: 10_000, interval: 20 })

  const textOf = ({ hookSpecificOutput: output, reason }: Body): string => output?.additionalContext ?? reason ?? ''

  const call = async (tool: string, args: object, meta?: object): Promise<Body> =>
    (await callTool(`${parley().url}/mcp`, tool, { ...args }, meta === undefined ? {} : { meta })).structuredContent

  const start = (agent_name: string) =>
    call('macro_start_session', { human_key: project, agent_name, program: 'x', model: 'y' })

  const write = (to: string) =>
    call('send_message', { project_key: project, sender_name: 'GreenCastle', to: [to], subject: 's', body_md: 'b' })

  verifies('waking.binding.hook', 'by the name that each client gives the tool', async () => {
    await start('GreenCastle')
    const answer = await start('BlueLake')
    const text = JSON.stringify(answer)
    const registered = JSON.stringify(answer.agent)
    for (const [client, event, tool_name, tool_response] of [
      ['claude', 'PostToolUse', 'mcp__parley__macro_start_session', [{ type: 'text', text }]],
      ['claude', 'PostToolUse', 'mcp__parley__register_agent', { structuredContent: answer.agent }],
      ['codex', 'PostToolUse', 'parley.register_agent', { content: [{ type: 'text', text: registered }] }],
      ['gemini', 'AfterTool', 'create_agent_identity', { llmContent: [{ text: registered }], returnDisplay: 'made' }],
      ['opencode', 'PostToolUse', 'parley_register_agent', registered],
    ] as const) {
      const session_id = newSession()
      const start = { session_id, cwd: '/', source: 'resume' }
      expect(await hook(client, 'SessionStart', start)).toEqual({})
      await hook(client, event, { session_id, tool_name: 'Bash', tool_response })
      expect(await hook(client, 'SessionStart', start)).toEqual({})
      await hook(client, event, { session_id, tool_name, tool_input: {}, tool_response })
      await told(client, 'SessionStart', start).toMatch(/You are the agent BlueLake of the Parley project bound-/)
      await write('BlueLake')
      await told(client, event, { session_id, tool_name: 'Bash' }).toMatch(
        /1 new message for BlueLake from GreenCastle/,
      )
      const query = `?session=${session_id}&client=${client}&seconds=20`
      const waiting = ask(parley(), 'POST', `/hooks/wait${query}`)
      await write('BlueLake')
      expect((await waiting).body).toMatchObject({ messages: [{ from: 'GreenCastle' }] })
    }
    // An answer that cannot be read: the arguments say who it is.
    const session_id = newSession()
    const tool_input = { human_key: project, agent_name: 'BlueLake' }
    await hook('claude', 'PostToolUse', { session_id, tool_name: 'mcp__p__macro_start_session', tool_input })
    await told('claude', 'SessionStart', { session_id }).toContain('BlueLake')
  })

  verifies('waking.binding.codex', 'in both eras, at the mail door, the mailbox and the hub', async () => {
    await start('GreenCastle')
    const named = { human_key: project, program: 'codex', model: 'y' }
    for (const [tool, args, name] of [
      ['macro_start_session', { ...named, agent_name: 'RedStone' }, 'RedStone'],
      ['fetch_inbox', { project_key: project, agent_name: 'GreenCastle' }, 'GreenCastle'],
    ] as const) {
      const threadId = newSession()
      await call(tool, args, { threadId })
      await told('codex', 'SessionStart', { session_id: threadId }).toContain(`You are the agent ${name}`)
      expect(await hook('claude', 'SessionStart', { session_id: threadId })).toEqual({})
    }
    // Somebody who is only looked at binds nobody.
    const threadId = newSession()
    await call('whois', { project_key: project, agent_name: 'RedStone' }, { threadId })
    await callTool(`${parley().url}/agents/carl/mcp`, 'check_mail', {}, { meta: { threadId } })
    await told('codex', 'SessionStart', { session_id: threadId }).toContain('You are the agent carl')
    const [atHub, of] = [newSession(), { to: 'carl', text: 'hello' }]
    await callTool(`${parley().url}/hub/mcp?agent=hugo`, 'apm2.message.send', of, { meta: { threadId: atHub } })
    await told('codex', 'SessionStart', { session_id: atHub }).toContain('You are the agent hugo')
    const waits = await ask(parley(), 'POST', '/hooks/wait?session=nobody&client=codex&seconds=0')
    expect([waits.status, waits.body.code ?? waits.body.error?.code]).toEqual([404, 'AGENT_NOT_FOUND'])
  })

  verifies('waking.binding.folder', 'and ?project= goes before it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-bound-'))
    const begin = (human_key: string) =>
      call('macro_start_session', { human_key, agent_name: 'GoldRiver', program: 'x', model: 'y' })
    const { project: made } = await begin(folder)
    const other = await begin(`${folder}-other`)
    const greeted = (payload: object, query: string) =>
      told('claude', 'SessionStart', { session_id: newSession(), ...payload }, query)
    await greeted({ cwd: join(folder, 'src') }, '?agent=GoldRiver').toContain(`project ${made.slug}.`)
    await greeted({ cwd: folder }, `?agent=GoldRiver&project=${other.project.slug}`).toContain(other.project.slug)
    await greeted({ cwd: folder }, `?agent=GoldRiver@${other.project.slug}`).toContain(other.project.slug)
    await callTool(`${parley().url}/agents/dora/mcp`, 'check_mail', {})
    await greeted({ cwd: folder }, '?agent=dora').toContain('project commons.')
    await greeted({ cwd: 'no path' }, '?agent=dora').toContain('project commons.')
  })

  verifies('waking.binding.rights', 'of a local caller, and of another key', async () => {
    const made = await ask(parley(), 'POST', '/agents/register', { body: { name: 'eve', owner_contact: 'e@x.org' } })
    const key = { 'x-api-key': made.body.api_key }
    await callTool(`${parley().url}/agents/fred/mcp`, 'check_mail', {})
    const session_id = newSession()
    const meta = { meta: { threadId: session_id } }
    await callTool(`${parley().url}/agents/fred/mcp`, 'check_mail', {}, meta)
    await told('codex', 'SessionStart', { session_id }).toContain('agent fred')
    // Eve names the session of fred.
    await callTool(`${parley().url}/agents/eve/mcp`, 'check_mail', {}, { ...meta, headers: key })
    await told('codex', 'SessionStart', { session_id }, '', key).toContain('agent eve')
    await told('codex', 'SessionStart', { session_id }).toContain('agent fred')
    const registered = { name: 'eve', program: 'x', project: 'commons' }
    const payload = { session_id, tool_name: 'register_agent', tool_response: registered }
    const answer = await ask(parley(), 'POST', '/hooks/codex/PostToolUse', { body: payload })
    expect([answer.status, answer.body]).toEqual([403, {}])
    await told('codex', 'SessionStart', { session_id }).toContain('agent fred')
  })
})
