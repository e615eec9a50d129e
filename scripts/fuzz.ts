/** `npm run fuzz`: schemathesis makes requests from /openapi.json and sends them to a real Parley; skipped where Python is not there. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { install, Skipped } from '../bench/peers/python.ts'
import { build } from './build.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const say = (text: string) => process.stdout.write(`${text}\n`)

/**
 * All of its checks but one: that everything is taken which fits its schema. Two rules of the door are none that a schema can
 * say: an id has visible characters, and a message needs a subject or a session.
 */
const checks = ['--checks', 'all', '--exclude-checks', 'positive_data_acceptance']

/** The product as a user starts it, on a free port and with a folder of its own. */
async function startParley() {
  await build()
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
async function furnish(url: string): Promise<{ key: string; session: string; message: string }> {
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
  const mail = { to: 'alice-agent', subject: 'Fuzz', content: 'hello' }
  const { session_id: session = '', message_id: message = '' } = await call('/messages/send', mail, bob.api_key)
  return { key: alice.api_key ?? '', session, message }
}

interface Pass {
  readonly name: string
  readonly args: readonly string[]
  /** Schemathesis' settings, which it reads from a file. */
  readonly config?: string
}

/** Ids by chance never are those of something: a pass of its own has some. A key makes no agents: registering has none. */
function passesOf({ key, session, message }: Awaited<ReturnType<typeof furnish>>): Pass[] {
  const asAgent = ['-H', `X-API-Key: ${key}`]
  const known = `[parameters]\n"path.session_id" = "${session}"\n"path.message_id" = "${message}"\n`
  return [
    { name: 'an agent with its key', args: [...asAgent, '--exclude-path', '/agents/register'] },
    { name: 'a session that exists', args: [...asAgent, '--include-path-regex', '_id'], config: known },
    { name: 'registering', args: ['--include-path', '/agents/register'] },
  ]
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
  const folder = await mkdtemp(join(tmpdir(), 'parley-fuzz-'))
  const fuzz = async ({ name, args, config = '' }: Pass): Promise<number> => {
    say(`\n— ${name}`)
    const file = join(folder, 'schemathesis.toml')
    await writeFile(file, config)
    const always = [
      ...checks,
      '--generation-with-security-parameters',
      'false',
      '-n',
      process.env.FUZZ_EXAMPLES ?? '50',
    ]
    const child = spawn(
      join(schemathesis.bin, 'schemathesis'),
      ['--config-file', file, 'run', `${parley.url}/openapi.json`, ...args, ...always],
      { stdio: 'inherit', cwd: folder, env: { ...process.env, ...schemathesis.env } },
    )
    const [code] = await once(child, 'close')
    return code ?? 1
  }
  try {
    let worst = 0
    for (const pass of passesOf(await furnish(parley.url))) worst = Math.max(worst, await fuzz(pass))
    return worst
  } finally {
    await parley.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

process.exitCode = await main()
