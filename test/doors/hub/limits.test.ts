/** Limits on what waits at once: calls of one agent, calls of all, tasks of one agent. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'vitest'
import { inSession } from '../../support/events.ts'
import { hubDoorOf } from '../../support/hub-door.ts'
import { callTool, mailbox, waitingCalls } from '../../support/parley.ts'
import { eachPost } from '../../support/post.ts'
import { verifies } from '../../support/verifies.ts'
import { openSession } from '../../support/wire.ts'

const limited = { code: 'RATE_LIMITED', hint: expect.stringMatching(/_(PER_AGENT|TOTAL) is the limit/) }

eachPost(
  'What waits',
  (parley) => {
    let count = 0
    const names = (...all: string[]): string[] => {
      count++
      return all.map((name) => `${name}${count}`)
    }
    const as = (agent: string) => hubDoorOf(parley(), agent)
    const waiting = async (calls: number) => {
      while ((await waitingCalls(parley())) !== calls) await turn()
    }
    /** A call that waits until it is stopped. It asks again where the short waits of `full` took its room. */
    const held = async (agent: string, signal: AbortSignal): Promise<void> => {
      while (!signal.aborted) {
        await mailbox(parley(), agent)
          .check({ wait_seconds: 30 }, signal)
          .catch(() => null)
      }
    }
    /** Until one more short wait of the agent would be too many. */
    const full = (agent: string) =>
      expect
        .poll(
          () =>
            mailbox(parley(), agent)
              .check({ wait_seconds: 0.01 })
              .catch(({ code }) => code),
          { interval: 1, timeout: 10_000 },
        )
        .toBe('RATE_LIMITED')
    const bus = async (agent: string, tool: string, args: Record<string, unknown>) => {
      const endpoint = `${parley().url}/bus/mcp?agent=${agent}`
      const { structuredContent, isError } = await callTool(endpoint, tool, args)
      if (isError) throw (structuredContent as { error: object }).error
      return structuredContent as Record<string, unknown>
    }

    verifies('all.waits.limited', 'is so much of one agent, whichever door it waits at', async () => {
      const [alice = '', bob = '', carol = ''] = names('alice', 'bob', 'carol')
      const { thread } = await as(alice).send(bob, 'one')
      await as(bob).thread(thread)
      // It is marked as read once the answer is out: a wait that begins before would take it.
      await expect.poll(() => mailbox(parley(), bob).check()).toBeNull()
      const { topic_id } = await bus(bob, 'topic_create', { name: `topic of ${bob}` })
      await bus(bob, 'topic_join', { agent_name: bob, topic_id })
      const stop = new AbortController()
      const two = [0, 1].map(() => held(bob, stop.signal))
      await full(bob)
      await expect(mailbox(parley(), bob).check({ wait_seconds: 30 })).rejects.toMatchObject(limited)
      await expect(as(bob).thread(thread, { cursor: '1', wait_seconds: 30 })).rejects.toMatchObject(limited)
      const outbox = [{ content_markdown: 'said' }]
      await expect(bus(bob, 'sync', { topic_id, outbox, wait_seconds: 30 })).rejects.toMatchObject(limited)
      await expect(as(bob).call('apm2.message.ask', { to: carol, text: 'well?' })).rejects.toMatchObject(limited)
      await expect(as(bob).send(carol, 'well?', { await_reply_seconds: 30 })).rejects.toMatchObject(limited)
      await expect(
        as(bob).call('apm2.message.broadcast', { to: [carol], text: 'well?', wait_seconds: 30 }),
      ).rejects.toMatchObject(limited)
      // Nothing of what was refused is there, and calls that need not wait are answered.
      await expect(as(bob).read(`apm2://agents/${carol}`)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' })
      expect(await bus(bob, 'sync', { topic_id, outbox, wait_seconds: 0 })).toMatchObject({
        sent: [{ message: { seq: 1 } }],
      })
      expect((await as(bob).thread(thread, { wait_seconds: 30 })).messages).toHaveLength(1)
      expect(await mailbox(parley(), bob).check()).toBe(null)
      stop.abort()
      await Promise.all(two)
      await waiting(0)
      const again = mailbox(parley(), bob).check({ wait_seconds: 30 })
      await waiting(1)
      await as(alice).send(bob, 'two')
      expect(await again).toMatchObject({ content: 'two' })
    })

    verifies('all.waits.limited', 'is so much of all agents', async () => {
      const all = names('a', 'b', 'c')
      const stop = new AbortController()
      const three = [all[0], all[0], all[1]].map((name = '') => held(name, stop.signal))
      await full(all[2] ?? '')
      await expect(mailbox(parley(), all[2] ?? '').check({ wait_seconds: 30 })).rejects.toMatchObject(limited)
      stop.abort()
      await Promise.all(three)
      await waiting(0)
    })

    verifies('hub.tasks.limited', 'as tasks is so much of one agent, and a refused one sends nothing', async () => {
      const [alice = '', bob = ''] = names('alice', 'bob')
      const start = async (agent: string, to = bob) => {
        const token = await openSession(as(agent).endpoint)
        const call = { name: 'apm2.message.ask', arguments: { to, text: 'well?', wait_seconds: 60 }, task: {} }
        const { result } = await inSession(as(agent).endpoint, token, 'tools/call', call)
        return { token, result: result as { task?: { taskId: string }; structuredContent?: object; isError?: boolean } }
      }
      // However the name is written.
      const [first] = [await start(alice), await start(alice.toUpperCase())]
      const refused = await start(alice, `${bob}-2`)
      expect(refused.result).toMatchObject({ isError: true, structuredContent: { error: { code: 'RATE_LIMITED' } } })
      await expect(as(alice).read(`apm2://agents/${bob}-2`)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' })
      const taskId = first?.result.task?.taskId
      await inSession(as(alice).endpoint, first?.token ?? '', 'tasks/cancel', { taskId })
      expect((await start(alice)).result.task).toMatchObject({ status: 'working' })
    })
  },
  { WAITS_PER_AGENT: '2', WAITS_TOTAL: '3', TASKS_PER_AGENT: '2' },
)
