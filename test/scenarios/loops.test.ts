/** Two agents talk: the example's loop, one for each of them. */
import { expect } from 'vitest'
import { agentLoop } from '../../examples/loop.ts'
import { serveHere } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

verifies('mailbox.done.loops', 'Two loops exchange 20 messages in order and lose none', async () => {
  const { url } = await serveHere()
  const stop = new AbortController()
  const heard: string[] = []
  const talk = (me: string) => ({
    url,
    me,
    signal: stop.signal,
    think: async ({ from, content }: { from: string; content: string }) => {
      heard.push(`${from}: ${content}`)
      const next = Number(content) + 1
      if (next > 20) stop.abort()
      return next > 20 ? undefined : String(next)
    },
  })
  await Promise.all([agentLoop(talk('gemini')), agentLoop({ ...talk('claude'), first: { to: 'gemini', text: '1' } })])
  expect(heard).toEqual(Array.from({ length: 20 }, (_, n) => `${n % 2 === 0 ? 'claude' : 'gemini'}: ${n + 1}`))
})
