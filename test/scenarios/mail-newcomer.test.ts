/** Two agents that have nothing but tools/list and the instructions: what they do first, and that all of it works. */
import { describe, expect } from 'vitest'
import { type Message, newProject, type Receipt } from '../support/mail.ts'
import { connectClient, type EraName, eras, shareServer } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()

type Json = Record<string, unknown>

/** A model's way in. It calls only tools that are listed, with arguments that their schemas have, and has no error. */
async function newcomer(era: EraName, list: string) {
  const client = await connectClient(`${parley().url}/mcp?tools=${list}`, era)
  const tools = new Map((await client.listTools()).tools.map((tool) => [tool.name, tool]))
  return {
    instructions: client.getInstructions() ?? '',
    offers: (tool: string) => tools.has(tool),
    async call<Value = Json>(name: string, args: Json): Promise<Value> {
      const schema = tools.get(name)?.inputSchema
      expect(Object.keys(schema?.properties ?? {}), name).toEqual(expect.arrayContaining(Object.keys(args)))
      expect(Object.keys(args), name).toEqual(expect.arrayContaining(schema?.required ?? []))
      const { structuredContent, isError } = await client.callTool({ name, arguments: args })
      expect(isError, JSON.stringify(structuredContent)).toBeFalsy()
      const value = structuredContent as Json
      return ('result' in value ? value.result : value) as Value
    },
  }
}

interface Started {
  agent: { name: string }
  inbox: Message[]
  active_agents: { name: string; task_description: string }[]
}

const fetch = { include_bodies: true }

for (const era of eras)
  describe.each(['all', 'core', 'macros'])(`In ${era}, offered %s`, (list) => {
    verifies('mail.story.newcomer', 'two agents of one project meet, ask, answer and share files', async () => {
      const [ann, bob] = [await newcomer(era, list), await newcomer(era, list)]
      expect(ann.instructions).toContain('Begin with macro_start_session')
      const human_key = newProject()
      const first = await ann.call<Started>('macro_start_session', { human_key, task_description: 'Checkout API' })
      const second = await bob.call<Started>('macro_start_session', { human_key, task_description: 'Checkout page' })
      // As the description says: the name in the answer, and the path as project_key.
      const [green, blue] = [first.agent.name, second.agent.name]
      const project_key = human_key
      expect(second.active_agents).toMatchObject([{ name: green, task_description: 'Checkout API' }])

      const asked = await bob.call<Receipt>('send_message', {
        project_key,
        sender_name: blue,
        to: [green],
        subject: 'Fields of POST /checkout?',
        body_md: 'Which fields does it take?',
        thread_id: 'SHOP-7',
        ack_required: true,
      })
      expect(asked).toMatchObject({ count: 1, blocked: [] })
      expect(asked).not.toHaveProperty('note')
      const [question] = await ann.call<Message[]>('fetch_inbox', { project_key, agent_name: green, ...fetch })
      expect(question).toMatchObject({ from: blue, body_md: 'Which fields does it take?', ack_required: true })
      const receipt = { project_key, agent_name: green, message_id: question?.id }
      expect(await ann.call('acknowledge_message', receipt)).toMatchObject({ acknowledged: true })
      const answered = await ann.call<Receipt>('reply_message', {
        project_key,
        message_id: question?.id,
        sender_name: green,
        body_md: 'items, address, coupon',
        ack_required: false,
      })
      expect(answered).toMatchObject({ thread_id: 'SHOP-7', deliveries: [{ recipient: blue }] })

      // Mail comes again, unless the highest known id is passed.
      const mine = { project_key, agent_name: blue }
      const [answer] = await bob.call<Message[]>('fetch_inbox', { ...mine, ...fetch })
      expect(answer).toMatchObject({ from: green, body_md: 'items, address, coupon', ack_required: false })
      expect(await bob.call<Message[]>('fetch_inbox', mine)).toHaveLength(1)
      expect(await bob.call<Message[]>('fetch_inbox', { ...mine, after_id: answer?.id })).toEqual([])

      const reserve = ann.offers('file_reservation_paths') ? 'file_reservation_paths' : 'macro_file_reservation_cycle'
      const held = async (agent: Awaited<ReturnType<typeof newcomer>>, agent_name: string) => {
        const taken = await agent.call<Json>(reserve, { project_key, agent_name, paths: ['src/checkout/**'] })
        return (taken.file_reservations ?? taken) as { conflicts: { holders: { agent: string }[] }[] }
      }
      expect((await held(ann, green)).conflicts).toEqual([])
      expect((await held(bob, blue)).conflicts).toMatchObject([{ holders: [{ agent: green }] }])
      const release = { project_key, agent_name: green, paths: ['src/checkout/**'] }
      expect(await ann.call('release_file_reservations', release)).toMatchObject({ released: 1 })

      const tool = ann.offers('summarize_thread') ? 'summarize_thread' : 'macro_prepare_thread'
      const named = tool === 'summarize_thread' ? {} : { agent_name: green }
      const summary = await ann.call(tool, { project_key, thread_id: 'SHOP-7', ...named })
      expect(JSON.stringify(summary)).toContain('"total_messages":2')
      // The same agent again, after a restart.
      const again = await bob.call<Started>('macro_start_session', { human_key, agent_name: blue })
      expect(again).toMatchObject({ agent: { name: blue }, inbox: [{ from: green }] })
    })

    verifies('mail.story.newcomer', 'two agents of two projects make contact, and then write', async () => {
      const [ann, bob] = [await newcomer(era, list), await newcomer(era, list)]
      const [shop, billing] = [newProject(), newProject()]
      const green = (await ann.call<Started>('macro_start_session', { human_key: shop })).agent.name
      const blue = (await bob.call<Started>('macro_start_session', { human_key: billing })).agent.name
      const asking = ann.offers('request_contact')
        ? { tool: 'request_contact', from_agent: green, to_agent: blue }
        : { tool: 'macro_contact_handshake', requester: green, target: blue }
      const { tool, ...who } = asking
      await ann.call(tool, { project_key: shop, ...who, to_project: billing, reason: 'We share the invoices.' })
      const inbox = { project_key: billing, agent_name: blue, ...fetch }
      const [request] = await bob.call<Message[]>('fetch_inbox', inbox)
      // The message says how it is answered: the call is made of its words alone.
      const said = request?.body_md ?? ''
      expect(said).toContain('call respond_contact')
      const given = Object.fromEntries([...said.matchAll(/(\w+): "([^"]+)"/g)].map(([, name, value]) => [name, value]))
      expect(await bob.call('respond_contact', { project_key: billing, ...given, accept: true })).toMatchObject({
        status: 'approved',
      })
      const sent = await ann.call<Receipt>('send_message', {
        project_key: shop,
        sender_name: green,
        to: [`${blue}@${billing}`],
        subject: 'Invoice event',
        body_md: 'It has a new field.',
      })
      expect(sent).toMatchObject({ count: 1, blocked: [] })
      const [newest, earlier] = await bob.call<Message[]>('fetch_inbox', inbox)
      expect(newest).toMatchObject({ id: sent.message_id, from: expect.stringContaining(`${green}@`) })
      // The request is settled: nothing waits for an acknowledgement.
      expect(earlier).toMatchObject({ id: request?.id, ack_ts: expect.any(String) })
      const reply = { project_key: billing, message_id: sent.message_id, sender_name: blue, body_md: 'Seen.' }
      expect(await bob.call('reply_message', reply)).toMatchObject({ count: 1, deliveries: [{ recipient: green }] })
    })
  })
