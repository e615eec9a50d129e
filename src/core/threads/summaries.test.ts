/** Summaries of threads, on both engines: what they tell, whom they must not name, and what a language model adds. */

import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { type Asking, type Llm, LlmFailure } from '../../llm/llm.ts'
import { local } from '../access/callers.ts'
import { ensureAgent } from '../agents/agents.ts'
import type { Hub } from '../hub/hub.ts'
import { type Address, send } from '../messages/send.ts'
import { readLimits, summarizeThread, summarizeThreads } from './summaries.ts'

const plain = { refine: false }

interface Mail {
  from?: string
  to?: readonly Address[]
  thread?: string
  subject?: string
  replyTo?: number
}

async function mail(
  hub: Hub,
  body: string,
  { from = 'GreenCastle', to = [{ name: 'BlueLake' }], ...draft }: Mail = {},
) {
  const { messageId } = await send(hub, as(from), { to, body, ...draft })
  return messageId
}

/** A language model that answers what it is told, and remembers what it was asked. */
function model(answer: (asking: Asking) => string): Llm & { asked: Asking[] } {
  const asked: Asking[] = []
  return {
    asked,
    async complete(asking) {
      asked.push(asking)
      return answer(asking)
    },
    close() {},
  }
}

eachEngine('A summary', (open) => {
  const start = async (llm?: Llm) => openTestHub(await (await open()).connect(), { llm })

  const one = (hub: Hub, key: string, wish = plain) => summarizeThread(hub, local, { project: 'commons', key, ...wish })

  test('tells of a thread by its key, or by the id of its first message', async () => {
    const hub = await start()
    const thread = 'TKT-123'
    const first = await mail(hub, 'We decided to use cursors. Who writes the migration?', { thread, subject: 'Plan' })
    await mail(hub, 'See src/db/users.ts.', {
      thread,
      from: 'BlueLake',
      replyTo: first,
      to: [{ name: 'RedStone', kind: 'cc' }],
    })
    const told = {
      subject: 'Plan',
      participants: [
        { name: 'BlueLake', messages: 1 },
        { name: 'GreenCastle', messages: 1 },
        { name: 'RedStone', messages: 0 },
      ],
      totalMessages: 2,
      decisions: ['GreenCastle: We decided to use cursors.'],
      openQuestions: [],
      codeReferences: ['src/db/users.ts'],
      lastAt: hub.clock.now(),
      llm: undefined,
    }
    expect(await one(hub, thread)).toMatchObject({ key: thread, ...told })
    expect((await one(hub, String(first))).totalMessages).toBe(2)

    const lone = await mail(hub, 'On its own\n\nwithout a subject')
    expect(await one(hub, String(lone))).toMatchObject({ subject: 'On its own', totalMessages: 1 })
  })

  test('is drawn anew when somebody has written', async () => {
    const hub = await start()
    await mail(hub, 'TODO: first', { thread: 'T' })
    expect(await one(hub, 'T')).toMatchObject({ actionItems: ['GreenCastle: first'], totalMessages: 1 })
    expect(await one(hub, 'T')).toMatchObject({ actionItems: ['GreenCastle: first'], totalMessages: 1 })
    await mail(hub, '- [x] first\n- [ ] second', { thread: 'T', from: 'BlueLake', to: [{ name: 'GreenCastle' }] })
    expect(await one(hub, 'T')).toMatchObject({ actionItems: ['BlueLake: second'], totalMessages: 2 })
  })

  test('of a thread that nobody here may see is an error', async () => {
    const hub = await start()
    await ensureAgent(hub, local, { project: '/srv/elsewhere', name: 'RedStone' })
    await mail(hub, 'secret', { thread: 'T' })
    await expect(one(hub, 'nothing')).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' })
    for (const project of ['elsewhere', 'nowhere'])
      await expect(summarizeThread(hub, local, { project, key: 'T', ...plain })).rejects.toMatchObject({
        code: project === 'nowhere' ? 'PROJECT_NOT_FOUND' : 'THREAD_NOT_FOUND',
      })
  })

  test('tells another project what came there, and no more', async () => {
    const hub = await start()
    await ensureAgent(hub, local, { project: '/srv/elsewhere', name: 'RedStone' })
    await mail(hub, 'TODO: ours alone', { thread: 'T' })
    await mail(hub, 'TODO: for both', { thread: 'T', to: [{ name: 'RedStone', project: 'elsewhere' }] })
    const there = await summarizeThread(hub, local, { project: 'elsewhere', key: 'T', ...plain })
    expect(there).toMatchObject({ totalMessages: 1, actionItems: ['GreenCastle@commons: for both'] })
    expect(there.participants.map(({ name }) => name)).toEqual(['GreenCastle@commons', 'RedStone'])
    expect(there.examples.map(({ text }) => text)).toEqual(['TODO: for both'])
    expect(await one(hub, 'T')).toMatchObject({ totalMessages: 2 })
  })

  verifies('mail.summary.bcc', 'names nobody who got a blind copy', async () => {
    const hub = await start()
    const to = [{ name: 'BlueLake' }, { name: 'QuietOwl', kind: 'bcc' as const }]
    await mail(hub, 'Plan for all', { thread: 'T', to })
    const told = await one(hub, 'T')
    expect(told.participants.map(({ name }) => name)).toEqual(['GreenCastle', 'BlueLake'])
    expect(JSON.stringify(told)).not.toContain('QuietOwl')
    const many = await summarizeThreads(hub, local, { project: 'commons', keys: ['T'], limit: 50, ...plain })
    expect(JSON.stringify(many)).not.toContain('QuietOwl')
  })

  test('of a long thread reads how it began and what came last', async () => {
    const hub = await start()
    for (let n = 0; n < 120; n++) await mail(hub, `The point of number${n} is made. TODO: task${n}`, { thread: 'T' })
    const { threads } = await summarizeThreads(hub, local, { project: 'commons', keys: ['T'], limit: 60, ...plain })
    const [thread] = threads
    if (thread === undefined || 'error' in thread) throw new Error('no summary')
    expect(thread.summary).toMatchObject({ totalMessages: 120, messagesRead: 60 })
    expect(thread.summary.keyPoints[0]).toContain('number0 ')
    expect(thread.summary.keyPoints[1]).toContain('number61 ')
    expect(thread.summary.keyPoints.at(-1)).toContain('number119 ')
    expect(thread.summary.actionItems.at(-1)).toContain('task119')
    expect((await one(hub, 'T')).examples).toHaveLength(3)
    expect(readLimits.one).toBeGreaterThan(120)
  })

  verifies('mail.summary.read', 'says how much of how much it read, and counts all who wrote', async () => {
    const hub = await start()
    const back = { from: 'BlueLake', to: [{ name: 'GreenCastle' }] }
    for (let n = 0; n < 5; n++) await mail(hub, `TODO: task${n}`, { thread: 'A', ...(n === 2 ? back : {}) })
    // More writers than one summary names.
    for (let n = 0; n < 30; n++) await mail(hub, 'word', { thread: 'B', from: `writer${n}` })
    await mail(hub, 'last', { thread: 'B', ...back })
    const wish = { project: 'commons', keys: ['A', 'B'], ...plain }
    const { threads, aggregate } = await summarizeThreads(hub, local, { ...wish, limit: 2 })
    expect(threads[0]).toMatchObject({
      summary: {
        totalMessages: 5,
        messagesRead: 2,
        actionItems: ['GreenCastle: task0', 'GreenCastle: task4'],
        participants: [
          { name: 'GreenCastle', messages: 4 },
          { name: 'BlueLake', messages: 1 },
        ],
      },
    })
    expect(aggregate).toMatchObject({ totalMessages: 36, messagesRead: 4 })
    expect(aggregate.participants.slice(0, 2)).toEqual([
      { name: 'GreenCastle', messages: 4 },
      { name: 'BlueLake', messages: 2 },
    ])
    const newest = await summarizeThreads(hub, local, { ...wish, limit: 1 })
    expect(newest.threads[0]).toMatchObject({ summary: { messagesRead: 1, actionItems: ['GreenCastle: task4'] } })
    expect(await one(hub, 'A')).toMatchObject({ totalMessages: 5, messagesRead: 5 })
  })

  verifies(
    'mail.summary.many',
    'of several threads tells of each and of all, and of those that are missing',
    async () => {
      const hub = await start()
      await mail(hub, 'TODO: one\n\nIs it late?', { thread: 'A', subject: 'First' })
      await mail(hub, 'TODO: two', { thread: 'B', subject: 'Second', from: 'BlueLake', to: [{ name: 'GreenCastle' }] })
      await mail(hub, 'We agreed on Monday.', { thread: 'B', from: 'BlueLake', to: [{ name: 'GreenCastle' }] })
      const keys = ['A', 'missing', 'B', 'A']
      const { threads, aggregate } = await summarizeThreads(hub, local, {
        project: 'commons',
        keys,
        limit: 50,
        ...plain,
      })
      expect(threads).toMatchObject([
        { key: 'A', summary: { subject: 'First' } },
        { key: 'missing', error: { code: 'THREAD_NOT_FOUND' } },
        { key: 'B', summary: { subject: 'Second' } },
      ])
      expect(aggregate).toMatchObject({
        threads: 2,
        totalMessages: 3,
        participants: [
          { name: 'BlueLake', messages: 2 },
          { name: 'GreenCastle', messages: 1 },
        ],
        actionItems: ['[A] GreenCastle: one', '[B] BlueLake: two'],
        openQuestions: ['[A] GreenCastle: Is it late?'],
        decisions: ['[B] BlueLake: We agreed on Monday.'],
      })
    },
  )

  verifies(
    'mail.summary.refined',
    'is refined by a language model, which cannot say who took part or how much was said',
    async () => {
      const llm = model(() =>
        JSON.stringify({ overview: 'All agreed.', action_items: [], participants: ['Mallory'], total_messages: 0 }),
      )
      const hub = await start(llm)
      await mail(hub, 'TODO: one\n\nIt is getting rather late.', { thread: 'A' })
      const wish = { refine: true, model: 'gpt-9' }
      const told = await one(hub, 'A', wish)
      expect(told).toMatchObject({ overview: 'All agreed.', actionItems: [], totalMessages: 1, llm: { used: true } })
      expect(told.participants[0]).toEqual({ name: 'GreenCastle', messages: 1 })
      expect(told.keyPoints).toEqual(['GreenCastle: It is getting rather late.'])
      const { aggregate } = await summarizeThreads(hub, local, { project: 'commons', keys: ['A'], limit: 50, ...wish })
      expect(aggregate).toMatchObject({ overview: 'All agreed.', threads: 1, totalMessages: 1, llm: { used: true } })
      expect(llm.asked).toMatchObject([{ model: 'gpt-9' }, { model: 'gpt-9' }])
      expect(llm.asked[0]?.prompt).toContain('[message from agent GreenCastle, ')
      expect(await one(hub, 'A')).not.toHaveProperty('overview')
      expect(llm.asked).toHaveLength(2)
    },
  )

  verifies(
    'mail.summary.falls-back',
    'without the language model, when that fails, is the one there is, and says so',
    async () => {
      const answers: (() => string)[] = [
        () => {
          throw new LlmFailure('answered with status 500')
        },
        () => 'Sure! Here you go.',
        () => {
          throw new Error('sk-secret')
        },
        () => '{"overview": "Fine."}',
      ]
      const llm = model(() => answers.shift()?.() ?? '')
      const hub = await start(llm)
      await mail(hub, 'TODO: one', { thread: 'A' })
      const reasons: unknown[] = []
      for (let n = 0; n < 4; n++) {
        const { llm, actionItems } = await one(hub, 'A', { refine: true })
        expect(actionItems).toEqual(['GreenCastle: one'])
        reasons.push(llm)
      }
      expect(reasons).toEqual([
        { used: false, reason: 'The language model answered with status 500.' },
        { used: false, reason: 'The language model did not answer with the JSON it was asked for.' },
        { used: false, reason: 'The language model failed.' },
        { used: true },
      ])
      // The model is asked again for what could not be used.
      const [{ usable } = {}] = llm.asked
      expect(['Sure!', '{"overview": "Fine."}'].map((text) => usable?.(text))).toEqual([false, true])
    },
  )
})
