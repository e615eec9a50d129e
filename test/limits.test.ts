/** A limit is written once: with other numbers in its one line, every door checks and tells the other numbers. */
import { registerHooks } from 'node:module'
import { Readable } from 'node:stream'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { sizeInWords } from '../src/base/limits.ts'
import { loadConfig } from '../src/settings/read.ts'
import { readableLog } from './support/logged.ts'
import { newProject, plainMail } from './support/mail.ts'
import { bareEnv, mailbox, temporaryFolder } from './support/parley.ts'
import { repositoryFiles, withoutComments } from './support/sources.ts'

// Files share their imports (vitest.config.ts): these are loaded beside the others, under addresses of their own.
const mark = '?other-numbers.ts'
const hooks = registerHooks({
  resolve(name, context, next) {
    const found = next(name, context)
    const isOurs =
      context.parentURL?.endsWith(mark) && found.url.startsWith('file:') && !found.url.includes('/node_modules/')
    return isOurs ? { ...found, url: found.url + mark } : found
  },
  load(url, context, next) {
    const loaded = next(url, context)
    if (!url.endsWith(`/src/base/limits.ts${mark}`)) return loaded
    const source = String(loaded.source)
      .replace(/\brequestBytes: [^,}]+/, 'requestBytes: 3000')
      .replace(/\bbodyBytes: [^,}]+/, 'bodyBytes: 2048')
    return { ...loaded, source }
  },
})
afterAll(() => hooks.deregister())
const load = (path: string) => import(new URL(path + mark, import.meta.url).href)
const { startServer }: typeof import('../src/app/serve.ts') = await load('../src/app/serve.ts')
const { readLines }: typeof import('../src/doors/mcp/stdio/lines.ts') = await load('../src/doors/mcp/stdio/lines.ts')

async function startHere() {
  const server = await startServer(loadConfig(bareEnv(await temporaryFolder(), { HTTP_PORT: '0' })), readableLog().log)
  onTestFinished(server.stop)
  return server
}

const post = (url: string, body: object) =>
  fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })

describe('The size of a request', () => {
  const padded = (bytes: number) => {
    const ping = (x: string) => ({ jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: { x } } })
    return ping('x'.repeat(bytes - JSON.stringify(ping('')).length))
  }

  test('holds at every HTTP path, and the refusal tells it', async () => {
    const { url } = await startHere()
    for (const path of ['/agents/alice/mcp', '/mcp', '/bus/mcp?agent=alice']) {
      expect((await post(url + path, padded(3000))).status, path).toBe(200)
      const refused = await post(url + path, padded(3001))
      expect(refused.status, path).toBe(413)
      expect(await refused.text(), path).toContain('3000 bytes')
    }
  })

  test('holds for a line on stdin', async () => {
    const lines: (string | undefined)[] = []
    const text = (length: number) => Buffer.from(`${'x'.repeat(length)}\n`)
    await readLines(Readable.from([text(3000), text(3001)]), (line) => lines.push(line?.toString()))
    expect(lines).toEqual(['x'.repeat(3000), undefined])
  })
})

describe('The size of a body', () => {
  test('holds at the mailbox and the mail door, and the refusal tells it', async () => {
    const server = await startHere()
    const alice = mailbox(server, 'alice')
    await alice.send('bob', 'é'.repeat(1024))
    const tooLong = { code: 'INVALID_ARGUMENT', message: expect.stringContaining('at most 2048 bytes') }
    await expect(alice.send('bob', `${'é'.repeat(1024)}x`)).rejects.toMatchObject(tooLong)
    const mail = plainMail(server)
    const project_key = newProject()
    const letter = { project_key, sender_name: 'BlueLake', to: ['GreenHill'], subject: 's', body_md: 'x'.repeat(2049) }
    await expect(mail.call('send_message', letter)).rejects.toMatchObject(tooLong)
  })

  test('is told to models', async () => {
    const { url } = await startHere()
    const listed = await post(`${url}/agents/alice/mcp`, { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
    expect(await listed.text()).toContain('The message; up to 2 KiB.')
  })
})

test('Sizes are told as people read them', () => {
  expect([4 << 20, 1 << 20, 256 << 10, 3000].map(sizeInWords)).toEqual(['4 MiB', '1 MiB', '256 KiB', '3000 bytes'])
})

/** The request size and the body size, however they are spelled. */
const spelled = /\b[14] ?<< ?20\b|\b1024 ?\* ?1024\b|\b1_?048_?576\b|\b4_?194_?304\b|\b[14] ?MiB\b/

test.each(['const max = 4 << 20', 'at most 1 MiB', '1024 * 1024', '4_194_304', '1048576 bytes'])(
  'The number would be found in %j',
  (text) => expect(text).toMatch(spelled),
)

test('Neither number stands anywhere else in the code', () => {
  const code = repositoryFiles().filter(({ path }) =>
    /^src\/(app|core|doors|settings|base)\/.*(?<!\.test)\.ts$/.test(path),
  )
  expect(code.length).toBeGreaterThan(100)
  const repeating = code.filter(({ text }) => spelled.test(withoutComments(text))).map(({ path }) => path)
  expect(repeating).toEqual(['src/base/limits.ts'])
})
