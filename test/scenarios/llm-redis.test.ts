/** Two servers on one database, and a Redis between them: the model is asked once. */
import { expect } from 'vitest'
import { connectMail, newDesk } from '../support/mail.ts'
import { says, startEndpoint } from '../support/openai.ts'
import { serveHere } from '../support/parley.ts'
import { eachRedis } from '../support/redis.ts'
import { freePort } from '../support/redis-server.ts'
import { verifies } from '../support/verifies.ts'

/** The summary of one thread, asked for at one server and then at another; and how often the model was asked. */
async function summarizeTwice(LLM_CACHE_REDIS_URL: string) {
  const endpoint = await startEndpoint()
  endpoint.replies(says({ overview: 'All is well.' }))
  const env = { LLM_BASE_URL: endpoint.url, LLM_CACHE_BACKEND: 'redis', LLM_CACHE_REDIS_URL }
  const one = await serveHere({ env })
  const other = await serveHere({ env, storage: one.storage })
  const desk = await newDesk(one)
  await desk.send({ thread_id: 'TKT-1', subject: 'Plan', body_md: 'We decided to use cursors.' })
  const summaries: unknown[] = []
  for (const server of [one, other]) {
    const door = await connectMail(server, '2025-11-25')
    const { summary } = await door.call<{ summary: { overview?: string } }>('summarize_thread', {
      project_key: desk.project,
      thread_id: 'TKT-1',
    })
    summaries.push(summary.overview)
  }
  expect(summaries).toEqual(['All is well.', 'All is well.'])
  return endpoint.asked.length
}

eachRedis('Two servers', (start) => {
  verifies('mail.llm.redis', 'ask the model once between them', async () => {
    expect(await summarizeTwice((await start()).url)).toBe(1)
  })
})

verifies('mail.llm.redis-away', 'Without their Redis both servers answer, each by a question of its own', async () => {
  expect(await summarizeTwice(`redis://127.0.0.1:${await freePort()}`)).toBe(2)
})
