/** The three flows of the post door between agents at two nodes: over real HTTP and real WebSockets, two processes on one store. */
import { expect } from 'vitest'
import { eachEngine } from '../support/engines.ts'
import { callTool, serveHere, startParley, temporaryFolder } from '../support/parley.ts'
import { agentWith, type PostAgent, register } from '../support/post.ts'
import { socketOf } from '../support/sockets.ts'
import { verifies } from '../support/verifies.ts'

eachEngine('Agents at two nodes', (open) => {
  verifies(
    ['post.flow.connection', 'post.flow.messages', 'post.flow.socket', 'post.socket.anywhere'],
    'connect, write and answer, each at its own',
    async () => {
      const { url } = await open()
      const options = { storage: await temporaryFolder(), env: { DATABASE_URL: url, SECRET_KEY: 'one for both nodes' } }
      // One of the processes is the test's own.
      const [one, two] = [await startParley(options), await serveHere(options)]
      const [alice, bob] = [await register(one, 'alice'), await register(two, 'bob')]
      const [atAlice, atBob] = [await socketOf(one, alice), await socketOf(two, bob)]

      // Connection: asked at the one, seen and approved at the other, active for both.
      const asked = await alice.request(bob, 'Shall we?')
      expect(asked).toMatchObject({ status: 201, body: { status: 'PENDING' } })
      const { verification_code: code, connection_id } = asked.body
      expect(await atBob.next()).toMatchObject({
        type: 'connection_request',
        connection_id,
        from_agent: alice.name,
        verification_code: code,
      })
      expect((await bob.inbox()).body.pending_connections).toMatchObject([{ connection_id, verification_code: code }])
      expect(await bob.approve(code)).toMatchObject({ status: 200, body: { status: 'ACTIVE', connection_id } })
      expect(await atAlice.next()).toEqual({ type: 'connection_approved', connection_id, connected_agent: bob.name })
      const contacts = async (node: { url: string }, { name, key }: PostAgent) =>
        (
          await callTool(
            `${node.url}/mcp`,
            'list_contacts',
            { project_key: 'commons', agent_name: name },
            { headers: { 'X-API-Key': key } },
          )
        ).structuredContent
      expect(await contacts(one, alice)).toMatchObject({ result: [{ to: bob.name, status: 'approved' }] })
      expect(await contacts(two, bob)).toMatchObject({ result: [{ from: alice.name, status: 'approved' }] })

      // Messages: sent at the one, in the inbox of the other, read by its history, and answered.
      const sent = (await alice.send(bob, 'Test', 'Hello Bob!')).body
      expect(await atBob.next()).toMatchObject({ type: 'new_message', content: 'Hello Bob!', ...sent })
      expect((await bob.inbox()).body.sessions).toMatchObject([
        { session_id: sent.session_id, subject: 'Test', other_agent_name: alice.name, unread_count: 1 },
      ])
      expect((await bob.history(sent.session_id)).body.messages).toMatchObject([
        { content: 'Hello Bob!', is_read: true },
      ])
      expect((await alice.history(sent.session_id)).body.messages).toMatchObject([{ is_read: true }])
      expect((await bob.inbox('?unread_only=true')).body.sessions).toEqual([])
      await bob.send(alice, 'test', 'Hello Alice!')
      expect(await atAlice.next()).toMatchObject({ content: 'Hello Alice!', session_id: sent.session_id })
      expect((await alice.inbox()).body.sessions).toMatchObject([
        { session_id: sent.session_id, unread_count: 1, recent_messages: [{ content: 'Hello Alice!' }, {}] },
      ])

      // Either agent may as well be at the other node, with the same key.
      const [aliceThere, bobThere] = [agentWith(two, alice), agentWith(one, bob)]
      const there = await socketOf(one, bob)
      await aliceThere.send(bob, 'Test', 'and from there')
      for (const socket of [atBob, there]) expect(await socket.next()).toMatchObject({ content: 'and from there' })
      expect((await bobThere.history(sent.session_id, '?limit=50')).body.messages).toHaveLength(3)
      expect([atAlice.events, atBob.events, there.events]).toEqual([[], [], []])
      await two.stop()
      expect(await one.end()).toBe(0)
    },
    60_000,
  )
})
