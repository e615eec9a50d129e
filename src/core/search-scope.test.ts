/** What a search must never show: private mail among topics, other projects, other threads. On both engines. */
import sql from 'sql-template-tag'
import { expect, test } from 'vitest'
import { eachEngine } from '../../test/support/engines.ts'
import { as } from '../../test/support/hub.ts'
import { connectHub, inTopics, writeMessages } from '../../test/support/search.ts'
import type { Hub } from './hub.ts'
import { send } from './messages.ts'
import { search } from './search.ts'

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
      { body: 'secret of another project', project: 'elsewhere' },
    ])
    for (const body of [
      'secret',
      `secret topics${projectId} #topics${projectId} scope:topics${projectId}`,
      'general secret',
    ])
      await send(hub, as('alice'), { to: 'bob', body })
    expect((await bodies(hub, 'secret')).sort()).toEqual(['secret of the other topic', 'secret of the topic'])
    for (const query of ['from:alice', 'secret OR alice', 'sec*', 'thread:general', 'NOT x secret'])
      for (const body of await bodies(hub, query)) expect(body).toMatch(/^secret of the (other )?topic$/)
    expect(await search(hub, await inTopics(hub, 'elsewhere'), { query: 'secret' })).toHaveLength(1)
    expect(await search(hub, await inTopics(hub, 'a third'), { query: 'secret' })).toEqual([])
  })

  test('of a thread shows that thread alone', async () => {
    const hub = await start()
    await writeMessages(hub, [{ body: 'secret of the topic' }, { body: 'secret of the other', topic: 'other' }])
    await send(hub, as('alice'), { to: 'bob', body: 'secret between us' })
    const threads = await hub.db.all<{ id: number }>(sql`SELECT id FROM threads ORDER BY id`)
    const perThread: string[][] = []
    for (const { id: threadId } of threads)
      perThread.push((await search(hub, { threadId }, { query: 'secret' })).map(({ snippet }) => snippet.text))
    expect(perThread).toEqual([['secret of the topic'], ['secret of the other'], ['secret between us']])
  })

  test('goes by what a thread is, not by what it was when it was indexed', async () => {
    const hub = await start()
    await writeMessages(hub, [{ body: 'secret' }])
    expect(await bodies(hub, 'secret')).toEqual(['secret'])
    await hub.db.tx((tx) => tx.all(sql`UPDATE threads SET name = NULL, name_key = NULL`))
    expect(await bodies(hub, 'secret')).toEqual([])
  })
})
