/** Messages that a search must never show: private mail among topics, other projects, other threads. On both engines. */
import fc from 'fast-check'
import sql from 'sql-template-tag'
import { expect, test } from 'vitest'
import { codePoints } from '../../../test/support/code-points.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as } from '../../../test/support/hub.ts'
import { connectHub, inProject, inTopics, searchHits as search, writeMessages } from '../../../test/support/search.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { type Hub, inside } from '../hub/hub.ts'
import { send } from '../messages/send.ts'

eachEngine('A search', (open) => {
  const start = async () => connectHub(await open())

  const bodies = async (hub: Hub, query: string) =>
    (await search(hub, await inTopics(hub), { query })).map(({ snippet }) => snippet.text)

  test('of topics shows no private mail and no other project, whatever their words are', async () => {
    const hub = await start()
    const { projectId } = await inTopics(hub)
    await writeMessages(hub, [
      { body: 'secret of the topic' },
      { body: 'secret of the other topic', topic: 'other' },
      { body: 'secret of another project', project: '/srv/elsewhere' },
    ])
    for (const body of [
      'secret',
      `secret topics${projectId} #topics${projectId} scope:topics${projectId}`,
      'general secret',
    ])
      await send(hub, as('alice'), { to: [{ name: 'bob' }], body })
    expect((await bodies(hub, 'secret')).sort()).toEqual(['secret of the other topic', 'secret of the topic'])
    for (const query of ['from:alice', 'secret OR alice', 'sec*', 'thread:general', 'NOT x secret'])
      for (const body of await bodies(hub, query)) expect(body).toMatch(/^secret of the (other )?topic$/)
    expect(await search(hub, await inTopics(hub, 'elsewhere'), { query: 'secret' })).toHaveLength(1)
    expect(await search(hub, await inTopics(hub, '/srv/a third'), { query: 'secret' })).toEqual([])
  })

  test('of a thread shows that thread alone', async () => {
    const hub = await start()
    await writeMessages(hub, [{ body: 'secret of the topic' }, { body: 'secret of the other', topic: 'other' }])
    await send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'secret between us' })
    const threads = await hub[inside].db.all<{ id: number }>(sql`SELECT id FROM threads ORDER BY id`)
    const perThread: string[][] = []
    for (const { id: threadId } of threads)
      perThread.push((await search(hub, { threadId }, { query: 'secret' })).map(({ snippet }) => snippet.text))
    expect(perThread).toEqual([['secret of the topic'], ['secret of the other'], ['secret between us']])
  })

  const inAll = async (hub: Hub, query: string, project?: string) =>
    (await search(hub, await inProject(hub, project), { query })).map(({ snippet }) => snippet.text).sort()

  verifies(
    'mail.search.visible',
    'of a project shows its threads and what others openly exchanged with it, and nothing else',
    async () => {
      const hub = await start()
      await writeMessages(hub, [
        { body: 'secret topic' },
        { body: 'secret mail', mail: {} },
        { body: 'secret there', project: '/srv/there', mail: {} },
        { body: 'secret for both', project: '/srv/there', mail: { key: 'TKT-1', guests: ['commons', 'there'] } },
        { body: 'secret afterwards', project: '/srv/there', mail: { key: 'TKT-1' } },
      ])
      await send(hub, as('bob'), { to: [{ name: 'carol' }], body: 'secret of mailboxes' })
      const {
        sight: { projectId },
      } = await inProject(hub)
      await send(hub, as('eve', '/srv/third'), {
        to: [{ name: 'eve' }],
        body: `secret project${projectId} #project${projectId}`,
      })
      expect(await inAll(hub, 'secret')).toEqual([
        'secret for both',
        'secret mail',
        'secret of mailboxes',
        'secret topic',
      ])
      expect(await inAll(hub, 'secret', 'there')).toEqual(['secret afterwards', 'secret for both', 'secret there'])
      expect(await inAll(hub, 'thread:TKT-1')).toEqual(['secret for both'])
      expect(await inAll(hub, 'secret', '/srv/a fourth')).toEqual([])
      expect(await bodies(hub, 'secret')).toEqual(['secret topic'])
      await hub[inside].db.tx((tx) => tx.all(sql`DELETE FROM message_guests`))
      expect(await inAll(hub, 'thread:TKT-1')).toEqual([])
    },
  )

  test('of a project shows nothing of a topic that is being removed', async () => {
    const hub = await start()
    await writeMessages(hub, [{ body: 'secret' }])
    expect(await inAll(hub, 'secret')).toEqual(['secret'])
    await hub[inside].db.tx((tx) => tx.all(sql`UPDATE threads SET name = NULL, name_key = NULL, status = 'deleted'`))
    expect(await inAll(hub, 'secret')).toEqual([])
  })

  verifies('mail.search.fields', 'of mail knows its subject, its sender and its thread', async () => {
    const hub = await start()
    const [plan, again, alone, topic] = await writeMessages(hub, [
      { body: 'first', from: 'GreenCastle', mail: { key: 'TKT-123', subject: '[TKT-123] Plan for /api/users' } },
      { body: 'second', from: 'BlueLake', mail: { key: 'TKT-123', subject: 'Re: Plan' } },
      { body: 'third', from: 'BlueLake', mail: { subject: 'bd-124, on its own' } },
      { body: 'fourth', topic: 'plan of the topic' },
      { body: 'fifth: plan TKT-123 and BlueLake are only named', mail: { key: 'bd-123', subject: 'Else' } },
    ])
    const ids = async (query: string) =>
      (await search(hub, await inProject(hub), { query })).map(({ id }) => id).sort((a, b) => a - b)
    expect(await ids('subject:plan')).toEqual([plan, again, topic])
    expect(await ids('subject:"plan for" subject:users')).toEqual([plan])
    expect(await ids('from:BlueLake')).toEqual([again, alone])
    expect(await ids('from:greencastle OR thread:bd-124')).toEqual([plan])
    expect(await ids('thread:TKT-123')).toEqual([plan, again])
    expect(await ids('thread:tkt-123 from:bluelake')).toEqual([again])
    expect(await ids('thread:bd-123 fifth')).toHaveLength(1)
    expect(await ids(`thread:${alone}`)).toEqual([alone])
    expect(await ids(`thread:${topic} fourth`)).toEqual([topic])
    expect(await ids('body:plan')).toHaveLength(1)
    const [hit] = await search(hub, await inProject(hub), { query: 'second' })
    expect(hit).toMatchObject({ subject: 'Re: Plan', threadKey: 'TKT-123', importance: 'normal', ackRequired: false })
    const [lone] = await search(hub, await inProject(hub), { query: 'third' })
    expect(lone?.threadKey).toBeUndefined()
    const [said] = await search(hub, await inProject(hub), { query: 'fourth' })
    expect(said).toMatchObject({ subject: 'plan of the topic', threadKey: said?.threadUid })
  })

  verifies('mail.search.never-raises', 'of a project takes any text', async () => {
    const hub = await start()
    await writeMessages(hub, [{ body: 'plan for src/api/users.ts', mail: { key: 'TKT-1', subject: 'auth-service' } }])
    const piece = fc.oneof(
      fc.string({ unit: codePoints }),
      fc.constantFrom('plan', 'NOT', 'AND', 'OR', '(', ')', '"', '*', ':', 'from:', 'thread:', ' ', '-', '\0', "'"),
    )
    const scope = await inProject(hub)
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        expect((await search(hub, scope, { query: pieces.join('') })).length).toBeLessThanOrEqual(1)
      }),
      { numRuns: 200 },
    )
  })

  test('goes by what a thread is, not by what it was when it was indexed', async () => {
    const hub = await start()
    await writeMessages(hub, [{ body: 'secret' }])
    expect(await bodies(hub, 'secret')).toEqual(['secret'])
    await hub[inside].db.tx((tx) => tx.all(sql`UPDATE threads SET name = NULL, name_key = NULL`))
    expect(await bodies(hub, 'secret')).toEqual([])
  })
})
