/** `npm run fuzz`: schemathesis makes requests from /openapi.json and sends them to a real Parley; skipped where Python is not there. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { install, Skipped } from '../bench/peers/python.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const say = (text: string) => process.stdout.write(`${text}\n`)

/** Those that say something of a server: what it answers is what it describes, and nothing brings it down. */
const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
]

/** The product as a user starts it, on a free port and with a folder of its own. */
async function startParley() {
  const storage = await mkdtemp(join(tmpdir(), 'parley-fuzz-'))
  const env = {
    PATH: process.env.PATH,
    HOME: storage,
    STORAGE_ROOT: storage,
    LOG_LEVEL: 'warn',
    HTTP_WRONG_KEYS_PER_MINUTE: '0',
  }
  const child = spawn(process.execPath, [join(root, 'bin/parley.js'), 'serve', '--port', '0'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface(child.stdout)) {
    const url = /ready at (http:\/\/\S+)/.exec(line)?.[1]
    if (url === undefined) continue
    return {
      url,
      async stop() {
        child.kill()
        await once(child, 'close')
        await rm(storage, { recursive: true, force: true })
      },
    }
  }
  throw new Error('Parley did not start')
}

/** An agent to act as, with a connection and some mail, so that there is something to find. */
async function furnish(url: string): Promise<string> {
  const call = async (path: string, body: object, key = ''): Promise<Record<string, string>> => {
    const headers = { 'Content-Type': 'application/json', ...(key !== '' && { 'X-API-Key': key }) }
    return (await (
      await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    ).json()) as Record<string, string>
  }
  const [alice, bob] = [
    await call('/agents/register', { name: 'alice-agent' }),
    await call('/agents/register', { name: 'bob-agent' }),
  ]
  const asked = await call('/connections/request', { target_agent_name: 'bob-agent' }, alice.api_key)
  await call('/connections/approve', { verification_code: asked.verification_code }, bob.api_key)
  await call('/messages/send', { to: 'alice-agent', subject: 'Fuzz', content: 'hello' }, bob.api_key)
  return alice.api_key ?? ''
}

async function main(): Promise<number> {
  let schemathesis: Awaited<ReturnType<typeof install>>
  try {
    schemathesis = await install({ name: 'schemathesis', version: '4.32.5', module: 'schemathesis' }, say)
  } catch (error) {
    if (!(error instanceof Skipped)) throw error
    say(`skipped: ${error.message}`)
    return 0
  }
  const parley = await startParley()
  try {
    const key = await furnish(parley.url)
    const examples = process.env.FUZZ_EXAMPLES ?? '50'
    const args = [
      'run',
      `${parley.url}/openapi.json`,
      '-H',
      `X-API-Key: ${key}`,
      '--checks',
      checks.join(','),
      '-n',
      examples,
    ]
    const child = spawn(join(schemathesis.bin, 'schemathesis'), args, {
      stdio: 'inherit',
      cwd: tmpdir(),
      env: { ...process.env, ...schemathesis.env },
    })
    const [code] = await once(child, 'close')
    return code ?? 1
  } finally {
    await parley.stop()
  }
}

process.exitCode = await main()
