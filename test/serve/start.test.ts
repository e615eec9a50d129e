/** Starting `parley serve`: what it prints, where it listens, what it makes on the first start. */
import { once } from 'node:events'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { version } from '../../src/app/version.ts'
import { loadConfig } from '../../src/settings/read.ts'
import { parleyCommand } from '../support/cli.ts'
import {
  bareEnv,
  connectClient,
  mailbox,
  runParley,
  serveHere,
  serveLogged,
  startParley,
  temporaryFolder,
} from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'
import { openSession, pingSession } from '../support/wire.ts'

/** How other machines would reach this one; undefined where there is no network. */
const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address

describe('The banner', () => {
  verifies('serve.start.banner', 'tells the address and how to connect each client, and nothing warns', async () => {
    const { url, storage, output } = await startParley()
    const mine = `${url}/agents/alice/mcp`
    expect(output.stdout).toContain(`Parley ${version} is ready at ${url}\n`)
    expect(output.stdout).toContain(`  storage   SQLite ${join(storage, 'parley.sqlite3')}\n`)
    expect(output.stdout).toContain(`  hub       ${url}/hub/mcp?agent={agent}\n`)
    expect(output.stdout).toContain(`claude mcp add --transport http parley ${mine}\n`)
    expect(output.stdout).toContain(`codex mcp add parley --url ${mine}\n`)
    expect(output.stdout).toContain(`gemini mcp add --scope user --transport http parley ${mine}\n`)
    expect(output.stdout).toContain(`claude mcp add --transport http parley ${url}/mcp\n`)
    const client = await connectClient(mine, '2025-11-25')
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('check_mail')
    expect(output.stderr).toBe('')
  })

  verifies(
    'serve.start.banner',
    'lets the shell fill in the key of an agent where one is needed, and never shows the token',
    async () => {
      const token = 'a-token-nobody-may-see'
      const { banner, logged } = await serveLogged({
        env: { HTTP_BEARER_TOKEN: token, HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: 'false' },
      })
      expect(banner.match(/--header "Authorization: Bearer \$PARLEY_API_KEY"/g)).toHaveLength(4)
      expect(banner).toMatch(/codex mcp add .* --bearer-token-env-var PARLEY_API_KEY\n/)
      expect(banner + logged()).not.toContain(token)
    },
  )

  verifies('serve.start.banner', 'leaves the token out where callers on this machine need none', async () => {
    const { banner } = await serveHere({ env: { HTTP_BEARER_TOKEN: 'a-token-nobody-may-see' } })
    expect(banner).not.toMatch(/token/i)
  })
})

describe('The address', () => {
  verifies('serve.start.address', 'is 127.0.0.1:8765 unless something else is said', async () => {
    const file = join(await temporaryFolder(), 'empty.env')
    await writeFile(file, '')
    expect(loadConfig({ PARLEY_ENV_FILE: file })).toMatchObject({ HTTP_HOST: '127.0.0.1', HTTP_PORT: 8765 })
  })

  verifies('serve.start.address', 'comes from the settings', async () => {
    const { url, port } = await serveHere({ env: { HTTP_HOST: 'localhost', HTTP_PORT: '0' } })
    expect(port).not.toBe(8765)
    expect((await fetch(`${url}/health/liveness`)).status).toBe(200)
    expect((await fetch(`http://localhost:${port}/health/liveness`)).status).toBe(200)
  })

  verifies('serve.start.address', 'comes from the flags before the settings', async () => {
    const env = { HTTP_HOST: 'no such host', HTTP_PORT: 'no such port' }
    const { url } = await startParley({ env, args: ['--host', '127.0.0.1', '--port', '0'] })
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect((await fetch(`${url}/health/liveness`)).status).toBe(200)
  })

  verifies('serve.start.address', 'may be every address, and then others are let in with the token only', async () => {
    const { url, port, banner } = await serveHere({ env: { HTTP_HOST: '0.0.0.0' } })
    expect(url).toBe(`http://127.0.0.1:${port}`)
    expect(banner).toContain('`parley token new`')
    expect(await mailbox({ url }, 'alice').check()).toBeNull()
    if (outside === undefined) return
    const from = `http://${outside}:${port}`
    expect((await fetch(`${from}/health/liveness`)).status).toBe(200)
    expect((await fetch(`${from}/agents/alice/mcp`, { method: 'POST' })).status).toBe(401)
  })

  test.skipIf(outside === undefined)('that others can reach needs a key also in the lines printed', async () => {
    const env = { HTTP_HOST: outside ?? '', HTTP_BEARER_TOKEN: 'a-token-nobody-may-see' }
    const { url, banner } = await serveHere({ env })
    expect(banner).toContain('Bearer $PARLEY_API_KEY')
    expect((await fetch(`${url}/agents/alice/mcp`, { method: 'POST' })).status).toBe(401)
  })

  verifies('serve.start.port-taken', 'that is taken is one clear message', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void taken.close())
    await once(taken, 'listening')
    const { port } = taken.address() as { port: number }
    const storage = await temporaryFolder()
    const run = await runParley(['serve', '--port', `${port}`], bareEnv(storage), { cwd: storage })
    expect(run).toMatchObject({ code: 1, stdout: '' })
    expect(run.stderr).toMatch(/^Parley cannot listen on .*\n.*--port.*\n$/)
    expect(run.stderr).toContain(`127.0.0.1:${port}`)
    expect((await readdir(storage)).sort()).toEqual(['parley.sqlite3', 'parley.sqlite3-bell', 'secret.key'])
  })
})

describe('The first start', () => {
  verifies('mailbox.store.created', 'makes a private folder with the database in it', async () => {
    const root = join(await temporaryFolder(), 'not', 'there', 'yet')
    const parley = await startParley({ env: { STORAGE_ROOT: root } })
    await mailbox(parley, 'alice').send('bob', 'hello')
    expect(await mailbox(parley, 'bob').check()).toMatchObject({ content: 'hello' })
    expect(await parley.end()).toBe(0)
    expect(await modeOf(root)).toBe(0o700)
    expect(await modeOf(join(root, 'parley.sqlite3'))).toBe(0o600)
    expect((await readdir(root)).sort()).toEqual([
      'parley.sqlite3',
      'parley.sqlite3-acknowledged',
      'parley.sqlite3-bell',
      'secret.key',
    ])
  })

  verifies('serve.start.secret', 'makes a key with mode 600, and later ones keep it', async () => {
    const first = await serveLogged()
    const file = join(first.storage, 'secret.key')
    const key = await readFile(file, 'utf8')
    expect(key).toMatch(/^[\w-]{43}\n$/)
    expect(await modeOf(file)).toBe(0o600)
    expect(first.banner + first.logged()).not.toContain(key.trim())
    const session = await openSession(`${first.url}/agents/alice/mcp`)
    await first.stop()
    const second = await serveHere({ storage: first.storage })
    expect(await readFile(file, 'utf8')).toBe(key)
    expect(await pingSession(`${second.url}/agents/alice/mcp`, session)).toBe(200)
  })

  verifies('serve.start.secret', 'of several processes at once makes one key for all', async () => {
    const storage = await temporaryFolder()
    const nodes = await Promise.all([1, 2, 3].map(() => startParley({ storage })))
    const [first] = nodes
    const session = await openSession(`${first?.url}/agents/alice/mcp`)
    for (const { url } of nodes) expect(await pingSession(`${url}/agents/alice/mcp`, session)).toBe(200)
    expect((await readdir(storage)).filter((name) => name.startsWith('secret'))).toEqual(['secret.key'])
  })

  verifies('serve.start.secret', 'makes none where SECRET_KEY is given, which wins over a kept one', async () => {
    const env = { SECRET_KEY: 'the same for every node' }
    const [one, two] = [await serveHere({ env }), await serveHere({ env })]
    expect(await readdir(one.storage)).not.toContain('secret.key')
    const session = await openSession(`${one.url}/agents/alice/mcp`)
    expect(await pingSession(`${two.url}/agents/alice/mcp`, session)).toBe(200)

    const kept = await serveHere()
    expect(await pingSession(`${kept.url}/agents/alice/mcp`, session)).toBe(404)
    await kept.stop()
    const given = await serveHere({ storage: kept.storage, env })
    expect(await pingSession(`${given.url}/agents/alice/mcp`, session)).toBe(200)
  })

  test.each([
    ['lies below a file', ['file', 'below']],
    ['is a file', ['file']],
  ])('says which folder cannot be had when STORAGE_ROOT %s', async (_what, path) => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'file'), '')
    const root = join(folder, ...path)
    const run = await parleyCommand({ storage: root }, ['serve', '--port', '0'], { cwd: folder })
    expect(run).toMatchObject({ code: 1, stdout: '' })
    expect(run.stderr).toMatch(/^Parley cannot use .*\n.*STORAGE_ROOT.*\n$/)
    expect(run.stderr).toContain(root)
  })
})

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777
