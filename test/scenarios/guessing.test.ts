/** Somebody guesses at secrets, at once, at two servers on one store, and again after one of them was killed. */
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { engines } from '../support/engines.ts'
import { serveHere, startParley } from '../support/parley.ts'
import { agentWith, ask, register } from '../support/post.ts'
import { verifies } from '../support/verifies.ts'
import { visitor } from '../support/web.ts'

const token = 'a-token-for-the-operator'

/** How often each status was the answer. */
async function tally(statuses: readonly Promise<number>[]): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const status of await Promise.all(statuses)) found[status] = (found[status] ?? 0) + 1
  return found
}

for (const engine of engines())
  describe(`Guesses at two servers (${engine.dialect})`, () => {
    let url = ''
    beforeAll(async () => {
      await engine.start()
      // A file that was left by a kill keeps its log: it goes with the folder of the servers.
      if (engine.dialect === 'postgres') url = await engine.create({ empty: false })
    })
    afterAll(async () => {
      if (url !== '') await engine.remove([url])
      await engine.stop()
    })

    verifies(
      ['post.code.at-once', 'post.keys.wrong', 'web.login.tries'],
      'are counted together, and a death forgets none',
      async () => {
        const env = {
          ...(url !== '' && { DATABASE_URL: url }),
          HTTP_BEARER_TOKEN: token,
          SECRET_KEY: 'one key for both servers 0123',
        }
        // One of the two is in the process of the test; the other is one that can be killed.
        const first = await serveHere({ env })
        const { storage } = first
        const second = await startParley({ env, storage })
        const at = (n: number) => (n % 2 === 0 ? first : second)
        const [alice, bob] = [await register(first, 'alice'), await register(second, 'bob')]
        const { verification_code: code } = (await alice.request(bob)).body
        const approve = (n: number, given: string) =>
          agentWith(at(n), bob)
            .approve(given)
            .then(({ status }) => status)
        const guesses = Array.from({ length: 200 }, (_, n) => `${code.slice(0, 2)}-${String(n).padStart(3, '0')}`)
        const wrong = guesses.filter((one) => one !== code)
        expect(await tally(wrong.map((one, n) => approve(n, one)))).toEqual({ 404: 10, 429: wrong.length - 10 })

        const people = [visitor(first.url), visitor(second.url)] as const
        for (const person of people) await person.get('/mail/login')
        const login = (n: number, given: string) =>
          people[n % 2 === 0 ? 0 : 1].post('/mail/login', { token: given }).then(({ status }) => status)
        expect(await tally(Array.from({ length: 60 }, (_, n) => login(n, `wrong ${n}`)))).toEqual({ 422: 10, 429: 50 })

        const key = (n: number, given: string) =>
          ask(at(n), 'GET', '/inbox', { headers: { 'X-API-Key': given } }).then(({ status }) => status)
        const keys = Array.from({ length: 150 }, (_, n) => key(n, `amb_${n.toString(16).padStart(64, '0')}`))
        expect(await tally(keys)).toEqual({ 401: 100, 429: 50 })
        expect(await key(0, bob.key)).toBe(200)

        await second.end('SIGKILL')
        const third = await serveHere({ env, storage })
        expect((await agentWith(third, bob).approve(code)).status).toBe(429)
        const person = visitor(third.url)
        await person.get('/mail/login')
        const late = await person.post('/mail/login', { token })
        expect([late.status, Number(late.headers.get('retry-after')) > 0]).toEqual([429, true])
        expect(
          (await ask(third, 'GET', '/mail', { headers: { Authorization: 'Bearer wrong', Accept: 'application/json' } }))
            .status,
        ).toBe(429)
        expect((await ask(third, 'GET', '/inbox', { headers: { 'X-API-Key': 'nonsense' } })).status).toBe(429)
      },
      60_000,
    )
  })
