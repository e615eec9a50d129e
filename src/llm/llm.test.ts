/** The client of a language model, against an endpoint that behaves, fails, hangs and lies. */
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { TestClock } from '../../test/support/clock.ts'
import { fails, hangs, raw, says, startEndpoint } from '../../test/support/openai.ts'
import { verifies } from '../../test/support/verifies.ts'
import { type Answers, forgetful, inMemory } from './answers.ts'
import { createLlm, LlmFailure, type LlmOptions, modelPattern } from './llm.ts'

const apiKey = 'sk-do-not-tell-0123456789'

async function start({ answers = inMemory(), ...options }: Partial<LlmOptions> & { answers?: Answers } = {}) {
  const endpoint = await startEndpoint()
  const clock = new TestClock()
  const lines: string[] = []
  const to = new Writable({
    write(line, _, done) {
      lines.push(String(line))
      done()
    },
  })
  const llm = createLlm(
    {
      baseUrl: `${endpoint.url}/`,
      apiKey,
      model: 'gpt-5-mini',
      temperature: 0.2,
      maxTokens: 512,
      logCost: true,
      ...options,
    },
    { log: pino({ level: 'trace' }, to), clock, answers },
  )
  const ask = (prompt = 'How are you?', model?: string) => llm.complete({ system: 'Be brief.', prompt, model })
  const failure = (prompt?: string) =>
    ask(prompt).then(
      () => 'answered',
      (error: unknown) => (error instanceof LlmFailure ? error.message : `unexpected: ${error}`),
    )
  return { endpoint, clock, lines, llm, ask, failure }
}

test('A question is asked as OpenAI wants it, and answered', async () => {
  const { endpoint, ask } = await start()
  expect(await ask()).toBe('fine')
  expect(endpoint.asked).toMatchObject([
    {
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: {
        model: 'gpt-5-mini',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'How are you?' },
        ],
        temperature: 0.2,
        max_tokens: 512,
      },
    },
  ])
})

test('An endpoint that wants no key gets none', async () => {
  const { endpoint, ask } = await start({ apiKey: undefined })
  await ask()
  expect(endpoint.asked[0]?.headers).not.toHaveProperty('authorization')
})

verifies('mail.llm.cached', 'The same question costs one request, and each call a line in the log', async () => {
  const { endpoint, ask, lines } = await start()
  expect([await ask(), await ask()]).toEqual(['fine', 'fine'])
  expect(endpoint.asked).toHaveLength(1)
  await ask('Another?')
  await ask('How are you?', 'openai/gpt-5')
  expect(endpoint.asked).toHaveLength(3)
  const logged = lines.map((line) => JSON.parse(line))
  expect(logged).toMatchObject([
    { level: 30, model: 'gpt-5-mini', prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, cached: false },
    { model: 'gpt-5-mini', total_tokens: 0, ms: 0, cached: true },
    { cached: false },
    { model: 'openai/gpt-5', cached: false },
  ])
})

test('Without cache and log there is neither', async () => {
  const { endpoint, ask, lines } = await start({ answers: forgetful, logCost: false })
  await ask()
  await ask()
  expect(endpoint.asked).toHaveLength(2)
  expect(lines).toEqual([])
})

verifies('mail.llm.unusable', 'An answer that cannot be used is not remembered', async () => {
  const { endpoint, llm } = await start()
  const ask = () => llm.complete({ system: '', prompt: '', usable: (text) => text === 'fine' })
  endpoint.replies(says('nonsense'), says('fine'))
  expect([await ask(), await ask(), await ask()]).toEqual(['nonsense', 'fine', 'fine'])
  expect(endpoint.asked).toHaveLength(2)
})

test('A failure is not remembered', async () => {
  const { endpoint, ask, failure } = await start()
  endpoint.replies(fails(401))
  expect(await failure()).toBe('answered with status 401')
  endpoint.replies(says('again'))
  expect(await ask()).toBe('again')
})

test('An endpoint that fails is asked once more', async () => {
  const { endpoint, clock, failure, ask } = await start()
  endpoint.replies(fails(500))
  const failed = failure()
  await expect.poll(() => clock.pending).toBe(2)
  clock.advance(500)
  expect(await failed).toBe('answered with status 500')
  expect(endpoint.asked).toHaveLength(2)

  endpoint.replies(fails(429, { 'retry-after': '3' }), says('now'))
  const answer = ask('later?')
  await expect.poll(() => clock.pending).toBe(2)
  clock.advance(2999)
  expect(endpoint.asked).toHaveLength(3)
  clock.advance(1)
  expect(await answer).toBe('now')
  expect(clock.pending).toBe(0)
})

test('An endpoint that wants more patience than there is fails at once', async () => {
  const { endpoint, clock, failure } = await start()
  endpoint.replies(fails(429, { 'retry-after': '60' }))
  expect(await failure()).toBe('answered with status 429')
  const later = new Date(clock.now() + 120_000).toUTCString()
  endpoint.replies(fails(503, { 'retry-after': later }))
  expect(await failure()).toBe('answered with status 503')
  expect(endpoint.asked).toHaveLength(2)
})

test('An endpoint that hangs is given up in time', async () => {
  const { endpoint, clock, failure } = await start()
  endpoint.replies(hangs)
  const failed = failure()
  await expect.poll(() => endpoint.asked.length).toBe(1)
  clock.advance(20_000)
  expect(await failed).toBe('gave no answer within 20 s')
})

test('A caller that goes does not wait', async () => {
  const { endpoint, clock, llm } = await start()
  endpoint.replies(hangs)
  const gone = new AbortController()
  const asked = llm.complete({ system: '', prompt: '', signal: gone.signal })
  await expect.poll(() => endpoint.asked.length).toBe(1)
  gone.abort()
  await expect(asked).rejects.toThrow('was not waited for')
  expect(clock.pending).toBe(0)
})

test('What is no completion is a failure', async () => {
  const { endpoint, failure } = await start()
  for (const reply of [
    raw('{"choices": [{"message": '),
    raw('<html>'),
    raw('null'),
    raw('{"choices": []}'),
    raw('{"choices": [{"message": {"content": null}}]}'),
    says(''),
  ]) {
    endpoint.replies(reply)
    expect(await failure()).toBe('answered with something that is no completion')
  }
  endpoint.replies(raw(`"${'x'.repeat(300 * 1024)}"`))
  expect(await failure()).toBe('answered with more than 256 KiB')
  endpoint.replies((response) => response.writeHead(307, { location: 'http://example.invalid/' }).end())
  expect(await failure()).toBe('could not be reached')
})

test('A model that does not take a parameter is asked without it, now and later', async () => {
  const { endpoint, ask } = await start()
  const refuses = (param: string) => fails(400, {}, { param, code: 'unsupported_parameter' })
  endpoint.replies(refuses('max_tokens'), refuses('temperature'), says('fine'))
  expect(await ask()).toBe('fine')
  expect(await ask('again?')).toBe('fine')
  expect(endpoint.asked).toHaveLength(4)
  for (const { body } of endpoint.asked.slice(2)) {
    expect(body.max_completion_tokens).toBe(512)
    expect(body).not.toHaveProperty('max_tokens')
    expect(body).not.toHaveProperty('temperature')
  }
})

test('A model that refuses whatever it is asked is asked three times at most', async () => {
  const { endpoint, failure } = await start()
  endpoint.replies(fails(400, {}, { param: 'max_tokens' }))
  expect(await failure()).toBe('answered with status 400')
  expect(endpoint.asked).toHaveLength(2)
})

verifies('mail.llm.secret', 'The key is in no log and no error', async () => {
  const { endpoint, lines, failure, ask } = await start()
  await ask()
  endpoint.replies(fails(401, {}, { message: `Incorrect API key provided: ${apiKey}` }))
  const told = [await failure('second')]
  for (const key of [`${apiKey}\n`, `${apiKey}\u20ac`]) told.push(await (await start({ apiKey: key })).failure())
  told.push(await (await start({ baseUrl: 'http://127.0.0.1:1/v1' })).failure())
  expect(told[3]).toMatch(/^could not be reached/)
  expect(`${told.join()}${lines.join()}`).not.toContain('sk-do-not-tell')
})

test('Names of models are checked before they are sent', () => {
  for (const name of ['gpt-5-mini', 'openai/gpt-5', 'llama3.1:8b', '@cf/meta/llama-3', 'a'])
    expect(name).toMatch(modelPattern)
  for (const name of ['', ' gpt', 'gpt 5', '"x"', 'x\n', '../x', 'é', 'x'.repeat(101)])
    expect(name).not.toMatch(modelPattern)
})
